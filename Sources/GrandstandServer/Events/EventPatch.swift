internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// `PATCH /v1/events/{key}`: applies a JSON Merge Patch (RFC 7396) to the declaration.
extension EventOperations {
    /// How often a patch without `If-Match` is tried while others change the same event.
    private static let tries = 5

    /// - Throws: the errors of `put`; `event-not-found`; `store-unavailable` if others changed the event during every
    ///   try.
    func patch(
        _ key: EventKey, _ patch: JSONValue, if condition: WriteCondition, _ caller: Caller
    ) async throws -> Versioned<Contract.Event> {
        guard case .object = patch.kind else {
            throw Problem.invalid(
                "A change of an event is a JSON object with the members that change.", at: "",
                "An object was expected, not \(patch.kindName).")
        }
        for _ in 0..<Self.tries {
            do {
                return try await apply(patch, to: key, if: condition, caller)
            } catch let problem as Problem where problem.kind == .versionMismatch && condition == .none {
                // Another writer changed the event after it was read: try again.
            }
        }
        throw Problem(.storeUnavailable, "Others change this event all the time. Try again.", retryAfter: 1)
    }

    private func apply(
        _ patch: JSONValue, to key: EventKey, if condition: WriteCondition, _ caller: Caller
    ) async throws -> Versioned<Contract.Event> {
        // The caller's access is checked before `If-Match`, so that the answer does not reveal which events other
        // callers have.
        let present = try await event(key, caller)
        try condition.check(present.version)
        // Members with the value `null` stay in the result, so that `put` also refuses an unknown member whose value is
        // `null`.
        let merged = MergePatch.apply(patch, to: try Self.declaration(of: present.value), keepsNulls: true)
        return try await put(
            key, try JSONValue(parsing: merged), if: .versions([present.version]), caller
        ).event
    }
}

extension JSONValue {
    /// The members of an object in their order; empty for any other value.
    var members: [(name: String, value: JSONValue)] { if case .object(let members) = kind { members } else { [] } }
}
