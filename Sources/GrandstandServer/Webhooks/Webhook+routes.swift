internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/webhooks`: webhooks, and the log of their messages.
extension API {
    var webhookRoutes: [Route] {
        let webhooks = webhooks
        return [
            Route(.createWebhook) { request, context in
                let draft = try webhooks.draft(try await request.json(), context.caller)
                return .json(try await webhooks.create(draft, context.caller), status: .created)
            },
            Route(.listWebhooks) { _, context in
                let query = context.query
                let declaredBy = try query.read("declaredBy", "The ID of a key was expected.", UUID.init(uuidString:))
                return .json(try await webhooks.list(try query.page(), declaredBy: declaredBy, context.caller))
            },
            Route(.getWebhook) { _, context in .json(try await webhooks.webhook(try context.webhook, context.caller)) },
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
                let overlap = try Contract.WebhookRotation.read(try await request.json(orIfEmpty: "{}")).overlapSeconds
                return .json(
                    try await webhooks.rotateSecret(of: try context.webhook, overlap: overlap, context.caller),
                    status: .created)
            },
            Route(.testWebhook) { _, context in
                .json(try await webhooks.test(try context.webhook, context.caller), status: .accepted)
            },
            Route(.listWebhookDeliveries) { _, context in
                let query = context.query
                return .json(
                    try await webhooks.deliveries(
                        of: try context.webhook, state: try query.choice("state"), topic: try query.choice("topic"),
                        try query.page(), context.caller))
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
    var webhook: UUID { get throws(Problem) { try id(orThrow: .webhookNotFound) } }
}

extension WebhookStore {
    /// Reads the body of `POST /v1/webhooks` and `PUT /v1/webhooks/{id}`. The messages of a webhook may contain only
    /// what the key that declares the webhook may read.
    ///
    /// - Returns: the draft with its apps in `bundleIds`.
    /// - Throws: `invalid-request`, `forbidden`.
    func draft(_ body: JSONValue, _ caller: APIKey) throws(Problem) -> Contract.WebhookDraft {
        guard caller.reach.eventKeyPrefix == nil else {
            throw Problem(.forbidden, "Keys that are bound to a prefix of event keys have no webhooks.")
        }
        var reach = AppReach.all
        var draft = try Contract.WebhookDraft.read(body) { draft, faults throws(Problem) in
            if let fault = WebhookURL(rawValue: draft.url).map(networks.fault) ?? WebhookURL.rule {
                faults.add("/url", fault)
            }
            reach = AppReach(named: draft.bundleIds ?? draft.bundleId.map { [$0] })
            return draft
        }
        if reach == .all { reach = caller.reach }
        try caller.requireAccess(to: reach)
        draft.bundleId = nil
        draft.bundleIds = reach.apps?.map(\.rawValue)
        for topic in draft.topics where !caller.maySubscribe(to: topic) {
            let scopes = topic.scopes.map(\.rawValue).sorted().joined(separator: " or ")
            throw Problem(.forbidden, "The key needs the scope \(scopes) to hear of \(topic.rawValue).")
        }
        return draft
    }
}
