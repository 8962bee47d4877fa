internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// `/v1/webhooks/{id}/deliveries`: what was posted, what came of it, and once more by hand.
struct WebhookDeliveryRoutes: Sendable {
    let webhooks: any WebhookStore
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.listWebhookDeliveries, list),
            Route(.getWebhookDelivery, get),
            Route(.replayWebhookDelivery, replay),
        ]
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = context.query
        let filter = WebhookDeliveryFilter(state: try query.choice("state"), topic: try query.choice("topic"))
        let part = try query.page()
        let webhook = try await webhooks.webhook(for: context)
        return .json(try await webhooks.deliveries(of: webhook.id, where: filter, part))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        let id = try context.id("delivery", orThrow: .webhookDeliveryNotFound)
        let webhook = try await webhooks.webhook(for: context)
        guard let log = try await webhooks.delivery(id, of: webhook.id) else { throw Self.notFound(id) }
        return .json(log)
    }

    private func replay(_ request: Request, _ context: APIContext) async throws -> Response {
        let id = try context.id("delivery", orThrow: .webhookDeliveryNotFound)
        let webhook = try await webhooks.webhook(for: context)
        guard let delivery = try await webhooks.replay(id, of: webhook.id, now: now()) else { throw Self.notFound(id) }
        return .json(delivery, status: .accepted)
    }

    private static func notFound(_ id: UUID) -> Problem {
        Problem(
            .webhookDeliveryNotFound,
            "The webhook has no delivery \(id.uuidString.lowercased()); old ones are forgotten.")
    }
}
