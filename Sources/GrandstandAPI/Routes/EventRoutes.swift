internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/events`: what should be.
struct EventRoutes: Sendable {
    let apps: any AppStore
    let events: any EventStore
    /// How long events hold their channels.
    let tenure: ChannelTenure
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.putEvent, put),
            Route(.patchEvent, patch),
            Route(.listEvents, list),
            Route(.getEvent, get),
            Route(.cancelEvent, delete),
            Route(.reopenEvent, reopen),
        ]
    }

    private func put(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKeyToWrite()
        let condition = try request.writeCondition()
        let specification = try EventSpecification(key: key, body: try await request.json())
        for audience in specification.audiences { try context.requireCover(of: audience.bundleID) }
        let (event, created) = try await events.put(
            specification, within: context.reach, by: context.actor, if: condition, now: now())
        return .json(event, status: created ? .created : .ok, headers: .version(event.version))
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = context.query
        let (from, to) = try query.period()
        let filter = EventFilter(
            state: try query.choice("state"), kind: query["kind"],
            season: try query.read("season", SeasonName.rule, SeasonName.init),
            bundleID: try query.read("bundleId", BundleID.rule, BundleID.init), from: from, to: to,
            overdueBy: try query.flag("overdue") ? tenure : nil, within: context.reach)
        let part = try query.page()
        if let bundleID = filter.bundleID {
            try context.requireCover(of: bundleID)
            _ = try await apps.registered(bundleID)
        }
        return .json(try await events.events(where: filter, part, now: now()))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        let event = try await events.declared(try context.eventKey(), within: context.reach, now: now())
        return .json(event, headers: .version(event.version))
    }

    private func delete(_ request: Request, _ context: APIContext) async throws -> Response {
        try await events.cancel(
            try context.eventKey(), sendingEnd: try context.query.flag("end"), within: context.reach, by: context.actor,
            if: try request.writeCondition(), now: now())
        return .noContent
    }

    private func reopen(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKey()
        var fields = JSONFields(try await request.json(orIfEmpty: "{}"))
        let audiences = fields.selectors("audiences")
        try fields.finish()
        return .json(
            try await events.reopen(
                key, audiences: audiences, within: context.reach, by: context.actor, now: now()))
    }
}
