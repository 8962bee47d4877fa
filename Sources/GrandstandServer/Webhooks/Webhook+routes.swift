internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/webhooks`: webhooks, and the log of their messages.
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
                let query = context.query
                let declaredBy = try query.read("declaredBy", "The ID of a key was expected.", UUID.init(uuidString:))
                return .json(try await webhooks.list(try query.page(), declaredBy: declaredBy, context.caller))
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
                let overlap = try Contract.WebhookRotation.read(try await request.json(orIfEmpty: "{}"))
                    .overlapSeconds
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
                let log = try await webhooks.delivery(delivery, of: try context.webhook, context.caller)
                return .json(Contract.WebhookDeliveryLog(log))
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
        let draft: WebhookDraft? = try Contract.WebhookDraft.read(body) { draft, faults throws(Problem) in
            let url = WebhookURL(rawValue: draft.url)
            if let fault = url.map(networks.fault) ?? WebhookURL.rule { faults.add("/url", fault) }
            let reach = try AppReach(draft.bundleId, draft.bundleIds, &faults)
            guard let url else { return nil }
            return WebhookDraft(
                url: url, description: draft.description,
                topics: Set(try draft.topics.map { word throws(Problem) in try WebhookTopic(word) }),
                reach: reach == .all ? bound : reach, isEnabled: draft.enabled ?? true)
        }
        guard let draft else { throw Problem(.invalidRequest, WebhookURL.rule) }
        self = draft
    }
}
