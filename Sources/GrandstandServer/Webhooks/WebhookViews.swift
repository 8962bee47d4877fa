internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Contract.Webhook {
    /// A webhook without its secret.
    init(_ webhook: Webhook) {
        let draft = webhook.draft
        self.init(
            id: webhook.id.words, url: draft.url.rawValue, description: draft.description,
            topics: draft.topics.map(Contract.WebhookTopic.init), bundleId: draft.reach.onlyApp?.rawValue,
            bundleIds: draft.reach.apps?.map(\.rawValue), declaredBy: webhook.declaredBy?.words,
            enabled: draft.isEnabled, reason: webhook.reason, failingSince: webhook.failingSince,
            previousSecretUntil: webhook.previousSecretUntil, createdAt: webhook.createdAt,
            updatedAt: webhook.updatedAt)
    }
}

extension Contract.IssuedWebhook {
    /// A webhook with its new secret.
    init(_ webhook: Webhook, secret: WebhookSecret) {
        self.init(secret: secret.rawValue, Contract.Webhook(webhook))
    }
}

extension Contract.WebhookDelivery {
    /// A message to a webhook, with its state.
    init(_ delivery: WebhookDelivery) {
        self.init(
            id: delivery.id.words, messageId: WebhookDelivery.messageName(delivery.message),
            topic: .init(delivery.topic), state: .init(delivery.state), attempts: delivery.attempts,
            status: delivery.status, reason: delivery.reason, createdAt: delivery.createdAt,
            nextAttemptAt: delivery.nextAttemptAt, settledAt: delivery.settledAt)
    }
}

extension Contract.WebhookAttempt {
    init(_ attempt: WebhookAttempt) {
        self.init(
            attempt: attempt.number, at: attempt.at, milliseconds: attempt.milliseconds, status: attempt.status,
            reason: attempt.reason)
    }
}

extension Contract.WebhookDeliveryLog {
    /// A message with all attempts. `message` keeps the bytes that were signed.
    init(_ log: WebhookDeliveryLog) {
        self.init(
            message: RawJSON(unchecked: log.body), log: log.attempts.map(Contract.WebhookAttempt.init),
            Contract.WebhookDelivery(log.delivery))
    }
}
