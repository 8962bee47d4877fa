internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// `PATCH /v1/events/{key}`: a JSON Merge Patch (RFC 7396) on what is declared.
extension EventOperations {
    /// Tries of a change that depends on no version, while others change the same event.
    private static let tries = 5

    /// - Throws: as `put`; `event-not-found`; `store-unavailable` while others change the event all the time.
    func patch(
        _ key: EventKey, _ patch: JSONValue, if condition: WriteCondition, _ caller: Caller
    ) async throws -> Event {
        guard case .object = patch.kind else {
            throw Problem.invalid(
                "A change of an event is a JSON object with the members that change.", at: "",
                "An object was expected, not \(patch.kindName).")
        }
        for _ in 0..<Self.tries {
            do {
                return try await apply(patch, to: key, if: condition, caller)
            } catch let problem as Problem where problem.kind == .versionMismatch && condition == .none {
                // Another writer changed it since it was read.
            }
        }
        throw Problem(.storeUnavailable, "Others change this event all the time. Try again.", retryAfter: 1)
    }

    private func apply(
        _ patch: JSONValue, to key: EventKey, if condition: WriteCondition, _ caller: Caller
    ) async throws -> Event {
        guard let present = try await events.event(key, now: now()) else {
            try condition.check(nil)
            throw Problem.noEvent(key)
        }
        guard caller.reach.covers(event: key, of: present.specification.audiences.map(\.bundleID)) else {
            throw Problem.noEvent(key)
        }
        try condition.check(present.version)
        // An unknown name is refused also where it is null.
        let merged = MergePatch.apply(patch, to: try Self.declaration(of: present), keepsNulls: true)
        return try await put(
            key, try JSONValue(parsing: merged), if: .versions([present.version]), caller
        ).event
    }
}

extension JSONValue {
    /// The members of an object, in their order; none of anything else.
    var members: [(name: String, value: JSONValue)] { if case .object(let members) = kind { members } else { [] } }
}
