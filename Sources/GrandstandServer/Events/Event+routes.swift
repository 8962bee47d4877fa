internal import APNsWire
internal import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/events`: the events that callers declare.
extension API {
    var eventRoutes: [Route] {
        let events = stores.events
        return [
            Route(.putEvent) { request, context in
                let key = try context.eventKey(orThrow: .invalidRequest)
                let condition = try request.writeCondition()
                let (event, created) = try await putEvent(
                    key, try await request.json(), if: condition, context.caller)
                return .json(event, status: created ? .created : .ok)
            },
            Route(.patchEvent) { request, context in
                let key = try context.eventKey(orThrow: .invalidRequest)
                let condition = try request.writeCondition()
                let patch = try await request.json(as: ["application/merge-patch+json", "application/json"])
                return .json(try await patchEvent(key, patch, if: condition, context.caller))
            },
            Route(.listEvents) { _, context in
                let (filter, page) = (try eventFilter(context.query, context), try context.query.page())
                if let bundleID = filter.bundleID { _ = try await stores.apps.registered(bundleID) }
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
                let caller = try context.caller
                return .json(
                    try await events.reopen(
                        key, audiences: order.audiences, within: caller.reach, by: caller.actor, now: now()))
            },
        ]
    }

    /// Reads the filter in a query of the API, or of the console's list, which has `find`.
    func eventFilter(_ query: QueryParameters, _ caller: some Reaching) throws(Problem) -> EventFilter {
        let (from, to) = try query.period()
        let filter = EventFilter(
            state: try query.choice("state"), kind: query["kind"],
            season: try query.read("season", TextRule.seasonName.sentence) {
                TextRule.seasonName.accepts($0) ? $0 : nil
            },
            bundleID: try query.read("bundleId", BundleID.rule, BundleID.init), text: query["find"], from: from, to: to,
            overdueBy: try query.flag("overdue") ? configuration.tenure : nil, reach: caller.reach)
        if let bundleID = filter.bundleID { try caller.requireAccess(to: bundleID) }
        return filter
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
        let draft = try Contract.EventDraft(checking: body)
        for audience in draft.audiences { try caller.requireAccess(to: BundleID(allowed: audience.bundleId)) }
        return try await stores.events.put(
            key, draft, within: caller.reach, by: caller.actor, if: condition, now: now())
    }

    /// Applies a JSON Merge Patch (RFC 7396) to the declaration.
    ///
    /// - Throws: the errors of `putEvent`; `event-not-found`.
    func patchEvent(
        _ key: EventKey, _ patch: JSONValue, if condition: WriteCondition, _ caller: APIKey
    ) async throws -> Versioned<Contract.Event> {
        // The caller's access is checked before `If-Match`, so that the answer does not reveal which events other
        // callers have.
        let present = try await stores.events.declared(key, within: caller.reach, now: now())
        try condition.check(present.version)
        // Members with the value `null` stay in the result, so that `putEvent` also refuses an unknown member whose
        // value is `null`.
        let declared = try JSONValue(parsing: JSONDraft(written: present.value).text)
        let merged = try JSONValue(parsing: MergePatch.apply(patch, to: declared, keepsNulls: true))
        do {
            return try await putEvent(key, merged, if: .versions([present.version]), caller).event
        } catch let problem as Problem where problem.kind == .versionMismatch && condition == .none {
            // Another writer changed the event after it was read.
            return try await patchEvent(key, patch, if: condition, caller)
        }
    }
}

/// Documents of events in the format that `PUT /v1/events/{key}` takes and `GET` returns. So a calendar entry may declare
/// everything that the API allows.
extension JSONDraft {
    /// A checked declaration. A document of this declaration is read as the same declaration again.
    package init(declaring draft: Contract.EventDraft) {
        self.init(written: draft)
        // Answers show a start with all of its members.
        self["start"] = value("start").flatMap { try? $0.decode(Contract.Start.self) }.map { JSONWriter.text($0) }
    }

    /// The declaration of an event that the API shows.
    init(written event: some Encodable) {
        self = (try? JSONValue(parsing: JSONWriter.text(event))).map { JSONDraft(event: $0) } ?? JSONDraft()
    }

    /// Reads the document as `PUT /v1/events/{key}` does.
    ///
    /// - Throws: `invalid-request`, `unknown-field`, with pointers into the document; `payload-too-large`.
    package func declaration() throws(Problem) -> Contract.EventDraft {
        try Contract.EventDraft(checking: JSONValue(parsing: text))
    }
}

extension Contract.EventDraft {
    /// Reads the body of `PUT /v1/events/{key}`. Members that were left out get their values, where answers show one.
    ///
    /// - Throws: `invalid-request`, `unknown-field`, with every fault that was found; `payload-too-large`.
    init(checking body: JSONValue) throws(Problem) {
        self = try Self.read(body) { draft, faults throws(Problem) in
            if let startsAt = draft.startsAt, let endsAt = draft.endsAt, endsAt <= startsAt {
                faults.add(
                    "/endsAt",
                    "endsAt is not after startsAt, \(RFC3339.text(startsAt)). Leave it out if nobody knows the end.")
            }
            var checked = draft
            let ids = try draft.audiences.map { audience throws(Problem) in try Audience(audience).id }
            draft.checkAudiences(ids, &faults)
            for index in ids.indices { checked.audiences[index].delivery = draft.audiences[index].delivery ?? .channel }
            checked.start?.check(startsAt: draft.startsAt, audiences: ids, &faults)
            checked.topics = draft.topics ?? []
            checked.metadata = draft.metadata ?? RawJSON(unchecked: "{}".utf8)
            return checked
        }
        try start?.requireFit(with: defaults ?? .init())
    }

    private func checkAudiences(_ ids: [Audience.ID], _ faults: inout RequestFaults) {
        var seen: Set<Audience.ID> = []
        for (index, id) in ids.enumerated() {
            if id.variant != nil, audiences[index].delivery == .tokens {
                faults.add(
                    "/audiences/\(index)/variant",
                    "An audience that is reached by tokens has no variants, because a variant needs a channel of "
                        + "its own. Leave variant out."
                )
            }
            if !seen.insert(id).inserted {
                faults.add(
                    "/audiences/\(index)/\(id.variant == nil ? "environment" : "variant")",
                    "\(id.bundleID) in \(id.environment.rawValue)\(id.variant.map { " in variant \($0)" } ?? "") is "
                        + "listed twice. An event has one audience for each app, environment and variant.")
            }
        }
    }
}

extension Audience {
    /// - Parameter draft: an audience that openapi.yaml allows.
    init(_ draft: Contract.Audience) throws(Problem) {
        self.init(
            id: ID(
                bundleID: try BundleID(allowed: draft.bundleId), environment: try APNsEnvironment(draft.environment),
                variant: try draft.variant.map { text throws(Problem) in try Variant(allowed: text) }),
            storagePolicy: try StoragePolicy(draft.storagePolicy), delivery: draft.delivery ?? .channel,
            priority: draft.priority, contentType: draft.content)
    }
}

extension Contract.Event {
    /// The key as rules need it.
    var eventKey: EventKey {
        guard let key = EventKey(rawValue: key) else { preconditionFailure("\(key) is not the key of an event") }
        return key
    }

    /// When channels are created; `nil`: at once.
    var channelsDueAt: Date? {
        Contract.EventDraft.channelsDueAt(channelsOpenAt, before: channelsOpenBefore, startsAt: startsAt)
    }

    /// The apps of the audiences.
    var apps: Set<BundleID> { Set(audiences.compactMap { BundleID(rawValue: $0.bundleId) }) }

    var isOver: Bool { state.isOver }
}
