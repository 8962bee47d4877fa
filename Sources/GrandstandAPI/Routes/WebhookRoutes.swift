internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/webhooks`: where messages are posted to.
struct WebhookRoutes: Sendable {
    let webhooks: any WebhookStore
    let networks: NetworkGuard
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            // Organisers hear of broadcasts, operators of quotas: each topic is checked by itself.
            Route(.createWebhook, create),
            Route(.listWebhooks, list),
            Route(.getWebhook, get),
            Route(.putWebhook, put),
            Route(.deleteWebhook, delete),
            Route(.rotateWebhookSecret, rotate),
            Route(.testWebhook, test),
        ]
    }

    private func create(_ request: Request, _ context: APIContext) async throws -> Response {
        let draft = try draft(try await request.json(), context)
        let (webhook, secret) = try await webhooks.create(draft, by: context.actor, now: now())
        return .json(WebhookView(webhook: webhook, secret: secret), status: .created)
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let filter = WebhookFilter(
            topics: Set(WebhookTopic.allCases.filter { context.key?.hears($0) ?? false }),
            within: context.reach)
        let page = try await webhooks.webhooks(where: filter, try context.query.page())
        return .json(Page(items: page.items.map { WebhookView(webhook: $0) }, nextCursor: page.nextCursor))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        let webhook = try await webhooks.webhook(for: context)
        return .json(WebhookView(webhook: webhook), headers: .version(webhook.version))
    }

    private func put(_ request: Request, _ context: APIContext) async throws -> Response {
        let condition = try request.writeCondition()
        let draft = try draft(try await request.json(), context)
        let present = try await webhooks.webhook(for: context)
        let replaced = try await webhooks.replace(
            present.id, with: draft, by: context.actor, if: condition, now: now())
        guard let webhook = replaced else {
            throw Problem.webhookNotFound(present.id)
        }
        return .json(WebhookView(webhook: webhook), headers: .version(webhook.version))
    }

    private func delete(_ request: Request, _ context: APIContext) async throws -> Response {
        let webhook = try await webhooks.webhook(for: context)
        guard try await webhooks.delete(webhook.id, by: context.actor, now: now()) else {
            throw Problem.webhookNotFound(webhook.id)
        }
        return .noContent
    }

    private func rotate(_ request: Request, _ context: APIContext) async throws -> Response {
        var fields = JSONFields(try await request.json(orIfEmpty: "{}"))
        let overlap = fields.integer("overlapSeconds", in: 0...7 * 86_400) ?? 86_400
        try fields.finish()
        let present = try await webhooks.webhook(for: context)
        guard
            let (webhook, secret) = try await webhooks.rotateSecret(
                of: present.id, overlap: TimeInterval(overlap), by: context.actor, now: now())
        else { throw Problem.webhookNotFound(present.id) }
        return .json(WebhookView(webhook: webhook, secret: secret), status: .created)
    }

    private func test(_ request: Request, _ context: APIContext) async throws -> Response {
        let webhook = try await webhooks.webhook(for: context)
        guard let delivery = try await webhooks.test(webhook.id, by: context.actor, now: now()) else {
            throw Problem.webhookNotFound(webhook.id)
        }
        return .json(delivery, status: .accepted)
    }

    /// Reads a body; what the key may not hear of, it cannot have posted either.
    private func draft(_ body: JSONValue, _ context: APIContext) throws(Problem) -> WebhookDraft {
        let draft = try WebhookDraft(body, networks: networks, boundTo: context.reach)
        try context.requireCover(of: draft.reach)
        for topic in draft.topics where !(context.key?.hears(topic) ?? false) {
            let scopes = topic.scopes.map(\.rawValue).sorted().joined(separator: " or ")
            throw Problem(
                .forbidden, "The key \(context.key?.name ?? "") needs the scope \(scopes) to hear of \(topic.rawValue)."
            )
        }
        return draft
    }
}

extension WebhookStore {
    /// The webhook in the path.
    ///
    /// - Throws: `webhook-not-found`; `forbidden` for a key that may not hear of all its topics, or of its apps.
    func webhook(for context: APIContext) async throws -> Webhook {
        let id = try context.id(orThrow: .webhookNotFound)
        guard let webhook = try await webhook(id) else { throw Problem.webhookNotFound(id) }
        try context.requireCover(of: webhook.draft.reach)
        guard webhook.draft.topics.allSatisfy({ context.key?.hears($0) ?? false }) else {
            throw Problem(.forbidden, "The key \(context.key?.name ?? "") may not hear of all this webhook tells of.")
        }
        return webhook
    }
}

extension Problem {
    static func webhookNotFound(_ id: UUID) -> Problem {
        Problem(.webhookNotFound, "There is no webhook \(id.uuidString.lowercased()).")
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
