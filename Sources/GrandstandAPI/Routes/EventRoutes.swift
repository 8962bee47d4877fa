internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Hummingbird

/// `/v1/events`: what should be.
struct EventRoutes: Sendable {
    let apps: any AppStore
    let events: any EventStore
    /// How long events hold their channels.
    let tenure: ChannelTenure
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.put, "/v1/events/:key", .scope(.organise), put),
            Route(.patch, "/v1/events/:key", .scope(.organise), patch),
            Route(
                .get, "/v1/events", .scope(.organise),
                query: ["limit", "cursor", "state", "kind", "bundleId", "from", "to", "overdue"], list),
            Route(.get, "/v1/events/:key", .scope(.organise), get),
            Route(.delete, "/v1/events/:key", .scope(.organise), query: ["end"], delete),
            Route(.post, "/v1/events/:key/reopen", .scope(.organise), reopen),
        ]
    }

    private func put(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKeyToWrite()
        let condition = try request.writeCondition()
        let specification = try EventSpecification(key: key, body: try await request.json())
        for audience in specification.audiences { try context.requireCover(of: audience.bundleID) }
        let (event, created) = try await events.put(
            specification, within: context.reach, by: context.actor, if: condition, now: now())
        return .json(event, status: created ? .created : .ok)
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = context.query
        let filter = EventFilter(
            state: try query.choice("state"), kind: query["kind"],
            bundleID: try query.read("bundleId", BundleID.rule, BundleID.init), from: try query.date("from"),
            to: try query.date("to"), overdueBy: try query.flag("overdue") ? tenure : nil, within: context.reach)
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
            now: now())
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

extension EventSpecification {
    /// Reads the body of `PUT /v1/events/{key}`.
    init(key: EventKey, body: JSONValue) throws(Problem) {
        var fields = JSONFields(body)
        let name = fields.text("name", required: true)
        let kind = fields.text("kind", maximum: 64)
        let startsAt = fields.date("startsAt")
        let endsAt = fields.date("endsAt")
        let (channelsOpenAt, channelsOpenBefore) = Self.opening(&fields, startsAt: startsAt)
        let metadata = fields.object("metadata")
        if let startsAt, let endsAt, endsAt < startsAt { fields.fault("endsAt", "endsAt is before startsAt.") }
        let audiences = Self.audiences(&fields)
        let topics = fields.topics()
        let start = StartDeclaration.read(&fields, startsAt: startsAt, audiences: audiences)
        let defaults = Self.defaults(&fields)
        try fields.finish()
        try start?.requireFit(with: defaults)
        self.init(
            key: key, name: name ?? "", kind: kind, startsAt: startsAt, endsAt: endsAt, channelsOpenAt: channelsOpenAt,
            channelsOpenBefore: channelsOpenBefore, audiences: audiences, metadata: metadata, topics: topics,
            start: start, defaults: defaults)
    }

    private static func audiences(_ fields: inout JSONFields) -> [Audience] {
        var audiences: [Audience] = []
        var seen: Set<Audience.ID> = []
        for (value, pointer) in fields.array("audiences", required: true, count: 1...1_000) ?? [] {
            var nested = JSONFields(value, pointer: pointer)
            let bundleID = nested.bundleID("bundleId")
            let environment = nested.choice("environment", APNsEnvironment.self, required: true)
            let policy = nested.choice("storagePolicy", StoragePolicy.self, required: true)
            let variant = nested.variant()
            let delivery = nested.choice("delivery", Audience.Delivery.self) ?? .channel
            let priority = nested.priority()
            if variant != nil, delivery == .tokens {
                nested.fault(
                    "variant",
                    "A variant has a channel of its own. The tokens of an app are one crowd, without variants.")
            }
            if let bundleID, let environment, let policy {
                let audience = Audience(
                    id: Audience.ID(bundleID: bundleID, environment: environment, variant: variant),
                    storagePolicy: policy, delivery: delivery, priority: priority)
                if seen.insert(audience.id).inserted {
                    audiences.append(audience)
                } else {
                    nested.fault(
                        variant == nil ? "environment" : "variant",
                        "\(bundleID) in \(environment.rawValue)\(variant.map { " in variant \($0)" } ?? "") stands twice; "
                            + "an event has one channel for each app, environment and variant, with one policy.")
                }
            }
            fields.absorb(nested)
        }
        return audiences
    }
}
