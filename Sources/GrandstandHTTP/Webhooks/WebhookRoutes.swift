internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/webhooks`: where messages are posted to, and what came of each.
struct WebhookRoutes: Sendable {
    let webhooks: WebhookOperations

    var routes: [Route] { declaring + delivering }

    private var declaring: [Route] {
        [
            Route(.createWebhook) { request, context in
                let draft = try webhooks.draft(try await request.json(), context.caller)
                return .json(try await webhooks.create(draft, context.caller), status: .created)
            },
            Route(.listWebhooks) { _, context in
                .json(try await webhooks.list(try context.query.page(), context.caller))
            },
            Route(.getWebhook) { _, context in
                .json(try await webhooks.webhook(try context.webhook, context.caller))
            },
            Route(.putWebhook) { request, context in
                let condition = try request.writeCondition()
                let draft = try webhooks.draft(try await request.json(), context.caller)
                return .json(
                    try await webhooks.replace(try context.webhook, with: draft, if: condition, context.caller))
            },
            Route(.deleteWebhook) { _, context in
                try await webhooks.delete(try context.webhook, context.caller)
                return .noContent
            },
            Route(.rotateWebhookSecret) { request, context in
                let overlap = try WebhookOperations.overlap(try await request.json(orIfEmpty: "{}"))
                return .json(
                    try await webhooks.rotateSecret(of: try context.webhook, overlap: overlap, context.caller),
                    status: .created)
            },
            Route(.testWebhook) { _, context in
                .json(try await webhooks.test(try context.webhook, context.caller), status: .accepted)
            },
        ]
    }

    private var delivering: [Route] {
        [
            Route(.listWebhookDeliveries) { _, context in
                let query = context.query
                let filter = WebhookDeliveryFilter(
                    state: try query.choice("state"), topic: try query.choice("topic"))
                return .json(
                    try await webhooks.deliveries(
                        of: try context.webhook, where: filter, try query.page(), context.caller))
            },
            Route(.getWebhookDelivery) { _, context in
                let delivery = try context.id("delivery", orThrow: .webhookDeliveryNotFound)
                return .json(try await webhooks.delivery(delivery, of: try context.webhook, context.caller))
            },
            Route(.replayWebhookDelivery) { _, context in
                let delivery = try context.id("delivery", orThrow: .webhookDeliveryNotFound)
                return .json(
                    try await webhooks.replay(delivery, of: try context.webhook, context.caller), status: .accepted)
            },
        ]
    }
}

extension PathReading {
    /// The webhook in the path.
    var webhook: UUID {
        get throws(Problem) { try id(orThrow: .webhookNotFound) }
    }
}

extension WebhookDraft {
    /// Reads the body of `POST /v1/webhooks` and `PUT /v1/webhooks/{id}`.
    init(_ body: JSONValue, networks: NetworkGuard, boundTo bound: AppReach) throws(Problem) {
        var fields = JSONFields(body)
        let url = Self.url(&fields, networks)
        let description = fields.text("description")
        let topics = Self.topics(&fields)
        let reach = fields.reach()
        let isEnabled = fields.flag("enabled") ?? true
        try fields.finish()
        guard let url else { throw Problem(.invalidRequest, WebhookURL.rule) }
        self.init(
            url: url, description: description, topics: topics, reach: reach == .all ? bound : reach,
            isEnabled: isEnabled)
    }

    private static func url(_ fields: inout JSONFields, _ networks: NetworkGuard) -> WebhookURL? {
        guard let text = fields.text("url", required: true, maximum: 2_000) else { return nil }
        guard let url = WebhookURL(rawValue: text) else {
            fields.fault("url", WebhookURL.rule)
            return nil
        }
        if let fault = networks.fault(of: url) { fields.fault("url", fault) }
        return url
    }

    private static func topics(_ fields: inout JSONFields) -> Set<WebhookTopic> {
        var topics: Set<WebhookTopic> = []
        let words = WebhookTopic.subscribable.map(\.rawValue).joined(separator: ", ")
        for (value, pointer) in fields.array("topics", required: true, count: 1...WebhookTopic.subscribable.count) ?? []
        {
            guard case .string(let text) = value.kind, let topic = WebhookTopic(rawValue: text),
                WebhookTopic.subscribable.contains(topic)
            else {
                fields.fault(at: pointer, "One of \(words) was expected.")
                continue
            }
            if !topics.insert(topic).inserted { fields.fault(at: pointer, "\(topic.rawValue) stands twice.") }
        }
        return topics
    }
}
