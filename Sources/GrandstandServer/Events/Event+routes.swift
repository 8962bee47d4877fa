internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/events`: the events that callers declare.
extension API {
    var eventRoutes: [Route] {
        let events = stores.events
        return [
            Route(.putEvent) { request, context in
                let key = try context.eventKeyToWrite()
                let condition = try request.writeCondition()
                let (event, created) = try await putEvent(
                    key, try await request.json(), if: condition, context.caller)
                return .json(event, status: created ? .created : .ok)
            },
            Route(.patchEvent) { request, context in
                let key = try context.eventKeyToWrite()
                let condition = try request.writeCondition()
                let patch = try await request.json(as: ["application/merge-patch+json", "application/json"])
                return .json(try await patchEvent(key, patch, if: condition, context.caller))
            },
            Route(.listEvents) { _, context in
                let (filter, page) = (try eventFilter(context), try context.query.page())
                if let bundleID = filter.bundleID {
                    try context.caller.requireAccess(to: bundleID)
                    _ = try await stores.apps.registered(bundleID)
                }
                return .json(try await events.events(where: filter, page, now: now()))
            },
            Route(.getEvent) { _, context in
                .json(
                    try await events.declared(
                        try context.eventKey(), within: try context.caller.reach, now: now()))
            },
            Route(.cancelEvent) { request, context in
                let caller = try context.caller
                try await events.cancel(
                    try context.eventKey(), sendingEnd: try context.query.flag("end"), within: caller.reach,
                    by: caller.actor, if: try request.writeCondition(), now: now())
                return .noContent
            },
            Route(.reopenEvent) { request, context in
                let key = try context.eventKey()
                let order = try Contract.ReopenOrder.read(try await request.json(orIfEmpty: "{}"))
                let audiences = try [AudienceSelector](order.audiences)
                let caller = try context.caller
                return .json(
                    try await events.reopen(
                        key, audiences: audiences, within: caller.reach, by: caller.actor, now: now()))
            },
        ]
    }

    private func eventFilter(_ context: APIContext) throws(Problem) -> EventFilter {
        let query = context.query
        let (from, to) = try query.period()
        return EventFilter(
            state: try query.choice("state"), kind: query["kind"],
            season: try query.read("season", SeasonName.rule, SeasonName.init),
            bundleID: try query.read("bundleId", BundleID.rule, BundleID.init), from: from, to: to,
            overdueBy: try query.flag("overdue") ? configuration.tenure : nil, reach: context.reach)
    }
}

/// The operations on events that routes and pages share, where they do more than the store.
extension API {
    /// Declares an event, or changes its declaration.
    ///
    /// - Parameter body: the body of `PUT /v1/events/{key}`.
    /// - Throws: `invalid-request`, `forbidden`, `version-mismatch`; the errors of the store.
    func putEvent(
        _ key: EventKey, _ body: JSONValue, if condition: WriteCondition, _ caller: APIKey
    ) async throws -> (event: Versioned<Contract.Event>, created: Bool) {
        guard caller.reach.covers(key) else { throw caller.reach.refusal }
        let specification = try EventSpecification(key: key, body: body)
        for audience in specification.audiences { try caller.requireAccess(to: audience.bundleID) }
        return try await stores.events.put(
            specification, within: caller.reach, by: caller.actor, if: condition, now: now())
    }

    /// How often a patch without `If-Match` is tried while others change the same event.
    private static let patchTries = 5

    /// Applies a JSON Merge Patch (RFC 7396) to the declaration.
    ///
    /// - Throws: the errors of `putEvent`; `event-not-found`; `store-unavailable` if others changed the event during every
    ///   try.
    func patchEvent(
        _ key: EventKey, _ patch: JSONValue, if condition: WriteCondition, _ caller: APIKey
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
        _ patch: JSONValue, to key: EventKey, if condition: WriteCondition, _ caller: APIKey
    ) async throws -> Versioned<Contract.Event> {
        // The caller's access is checked before `If-Match`, so that the answer does not reveal which events other
        // callers have.
        let present = try await stores.events.declared(key, within: caller.reach, now: now())
        try condition.check(present.version)
        // Members with the value `null` stay in the result, so that `putEvent` also refuses an unknown member whose value is
        // `null`.
        let declared = try JSONValue(parsing: EventDocument(of: present.value).text)
        let merged = MergePatch.apply(patch, to: declared, keepsNulls: true)
        return try await putEvent(
            key, try JSONValue(parsing: merged), if: .versions([present.version]), caller
        ).event
    }
}

extension JSONValue {
    /// The members of an object in their order; empty for any other value.
    var members: [(name: String, value: JSONValue)] { if case .object(let members) = kind { members } else { [] } }
}
