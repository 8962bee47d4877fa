internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The operations on events that routes and pages share, where they do more than the store.
extension API {
    /// Declares an event, or changes its declaration.
    ///
    /// - Parameter body: the body of `PUT /v1/events/{key}`.
    /// - Throws: `invalid-request`, `forbidden`, `version-mismatch`; the errors of the store.
    func putEvent(
        _ key: EventKey, _ body: JSONValue, if condition: WriteCondition, _ caller: Caller
    ) async throws -> (event: Versioned<Contract.Event>, created: Bool) {
        guard caller.reach.covers(key) else { throw caller.reach.refusal }
        let specification = try EventSpecification(key: key, body: body)
        for audience in specification.audiences { try caller.requireAccess(to: audience.bundleID) }
        return try await stores.events.put(
            specification, within: caller.reach, by: caller.actor, if: condition, now: now())
    }

    /// The event's declaration, in the format that `PUT` takes.
    static func declaration(of event: Contract.Event) throws(Problem) -> JSONValue {
        try JSONValue(parsing: EventDocument(of: event).text)
    }

    /// How often a patch without `If-Match` is tried while others change the same event.
    private static let patchTries = 5

    /// Applies a JSON Merge Patch (RFC 7396) to the declaration.
    ///
    /// - Throws: the errors of `putEvent`; `event-not-found`; `store-unavailable` if others changed the event during every
    ///   try.
    func patchEvent(
        _ key: EventKey, _ patch: JSONValue, if condition: WriteCondition, _ caller: Caller
    ) async throws -> Versioned<Contract.Event> {
        guard case .object = patch.kind else {
            throw Problem.invalid(
                "A change of an event is a JSON object with the members that change.", at: "",
                "An object was expected, not \(patch.kindName).")
        }
        for _ in 0..<Self.patchTries {
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
        let present = try await stores.events.declared(key, within: caller.reach, now: now())
        try condition.check(present.version)
        // Members with the value `null` stay in the result, so that `putEvent` also refuses an unknown member whose value is
        // `null`.
        let merged = MergePatch.apply(patch, to: try Self.declaration(of: present.value), keepsNulls: true)
        return try await putEvent(
            key, try JSONValue(parsing: merged), if: .versions([present.version]), caller
        ).event
    }
}

extension JSONValue {
    /// The members of an object in their order; empty for any other value.
    var members: [(name: String, value: JSONValue)] { if case .object(let members) = kind { members } else { [] } }
}
