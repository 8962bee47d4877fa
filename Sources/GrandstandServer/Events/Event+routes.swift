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
