internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/events`: the events that callers declare.
struct EventRoutes: Sendable {
    let events: EventOperations
    /// The rules for how long events hold their channels.
    let tenure: ChannelTenure

    var routes: [Route] {
        [
            Route(.putEvent) { request, context in
                let key = try context.eventKeyToWrite()
                let condition = try request.writeCondition()
                let (event, created) = try await events.put(
                    key, try await request.json(), if: condition, context.caller)
                return .json(event, status: created ? .created : .ok)
            },
            Route(.patchEvent) { request, context in
                let key = try context.eventKeyToWrite()
                let condition = try request.writeCondition()
                let patch = try await request.json(as: ["application/merge-patch+json", "application/json"])
                return .json(try await events.patch(key, patch, if: condition, context.caller))
            },
            Route(.listEvents) { _, context in
                let page = try await events.list(try filter(context), try context.query.page(), context.caller)
                return .json(Contract.Page(page) { $0 })
            },
            Route(.getEvent) { _, context in
                .json(try await events.event(try context.eventKey(), context.caller))
            },
            Route(.cancelEvent) { request, context in
                try await events.cancel(
                    try context.eventKey(), sendingEnd: try context.query.flag("end"),
                    if: try request.writeCondition(), context.caller)
                return .noContent
            },
            Route(.reopenEvent) { request, context in
                let key = try context.eventKey()
                let order = try Contract.ReopenOrder.read(try await request.json(orIfEmpty: "{}"))
                let audiences = try [AudienceSelector](order.audiences)
                let reopening = try await events.reopen(key, audiences: audiences, context.caller)
                return .json(Contract.ReopenedEvent(reopening))
            },
        ]
    }

    private func filter(_ context: APIContext) throws(Problem) -> EventFilter {
        let query = context.query
        let (from, to) = try query.period()
        return EventFilter(
            state: try query.choice("state"), kind: query["kind"],
            season: try query.read("season", SeasonName.rule, SeasonName.init),
            bundleID: try query.read("bundleId", BundleID.rule, BundleID.init), from: from, to: to,
            overdueBy: try query.flag("overdue") ? tenure : nil, reach: context.reach)
    }
}
