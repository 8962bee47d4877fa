internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

struct EventOperations: Sendable {
    let apps: AppStore
    let events: EventStore
    let now: @Sendable () -> Date

    /// Declares an event, or changes its declaration.
    ///
    /// - Parameter body: the body of `PUT /v1/events/{key}`.
    /// - Throws: `invalid-request`, `forbidden`, `version-mismatch`; the errors of the store.
    func put(
        _ key: EventKey, _ body: JSONValue, if condition: WriteCondition, _ caller: Caller
    ) async throws -> (event: Versioned<Contract.Event>, created: Bool) {
        guard caller.reach.covers(key) else { throw caller.reach.refusal }
        let specification = try EventSpecification(key: key, body: body)
        for audience in specification.audiences { try caller.requireAccess(to: audience.bundleID) }
        return try await events.put(
            specification, within: caller.reach, by: caller.actor, if: condition, now: now())
    }

    /// - Throws: `app-not-found`, `forbidden` for the filter's app.
    func list(_ filter: EventFilter, _ page: PageRequest, _ caller: Caller) async throws -> Page<Contract.Event> {
        if let bundleID = filter.bundleID {
            try caller.requireAccess(to: bundleID)
            _ = try await apps.registered(bundleID)
        }
        return try await events.events(where: filter, page, now: now())
    }

    /// - Throws: `event-not-found`, `forbidden`.
    func event(_ key: EventKey, _ caller: Caller) async throws -> Versioned<Contract.Event> {
        try await events.declared(key, within: caller.reach, now: now())
    }

    /// Whether the event is declared with everything in `body`. If so, a form that is sent a second time succeeds.
    ///
    /// - Parameter body: the body of a declaration or of a change.
    /// - Throws: the errors of `event`.
    func isDeclared(_ key: EventKey, as body: JSONValue, _ caller: Caller) async throws -> Bool {
        try Self.declaration(of: try await event(key, caller).value).contains(body)
    }

    /// - Throws: `event-not-found`, `forbidden`, `version-mismatch`.
    func cancel(
        _ key: EventKey, sendingEnd: Bool, if condition: WriteCondition, _ caller: Caller
    ) async throws {
        try await events.cancel(
            key, sendingEnd: sendingEnd, within: caller.reach, by: caller.actor, if: condition, now: now())
    }

    /// - Parameter audiences: the audiences that continue; `nil`: all.
    /// - Throws: `event-not-found`, `forbidden`; the errors of the store.
    func reopen(_ key: EventKey, audiences: [AudienceSelector]?, _ caller: Caller) async throws -> Reopening {
        try await events.reopen(key, audiences: audiences, within: caller.reach, by: caller.actor, now: now())
    }

    /// The event's declaration, in the format that `PUT` takes.
    static func declaration(of event: Contract.Event) throws(Problem) -> JSONValue {
        try JSONValue(parsing: EventDocument(of: event).text)
    }
}
