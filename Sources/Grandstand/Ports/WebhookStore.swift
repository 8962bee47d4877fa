package import FoundationEssentials

/// Stores webhooks as their owners declare them, and the log of posted messages.
///
/// Each write checks in its transaction that the webhook is within the writer's bounds. For the writer, a webhook
/// outside these bounds does not exist.
package protocol WebhookStore: Sendable {
    /// Creates a webhook and its secret. The secret cannot be read again.
    ///
    /// - Throws: `unauthenticated` or `forbidden` if the key was revoked meanwhile, or may no longer access the draft's
    ///   apps; `invalid-request` for an unknown app; `webhook-limit`.
    func create(
        _ draft: WebhookDraft, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret)

    /// Replaces the declaration of the webhook. Enabling a webhook clears its failures.
    ///
    /// - Returns: `nil`: there is no such webhook.
    /// - Throws: as `create`; `webhook-limit` for an app that already has too many webhooks; `version-mismatch`.
    func replace(
        _ id: UUID, with draft: WebhookDraft, within bounds: WebhookFilter, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> Webhook?

    /// Deletes the webhook and its log.
    ///
    /// - Returns: whether it existed.
    func delete(_ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date) async throws -> Bool

    /// Gives the webhook a new secret. For `overlap` seconds, messages also carry the signature of the old secret.
    ///
    /// - Returns: `nil`: there is no such webhook.
    func rotateSecret(
        of id: UUID, overlap: TimeInterval, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret)?

    func webhook(_ id: UUID) async throws -> Webhook?

    /// The webhooks, the oldest first.
    func webhooks(where filter: WebhookFilter, _ page: PageRequest) async throws -> Page<Webhook>

    /// Queues a message of the topic `webhook.test` for this webhook only. The webhook may be disabled.
    ///
    /// - Returns: `nil`: there is no such webhook.
    func test(
        _ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> WebhookDelivery?

    /// The deliveries, the newest first.
    func deliveries(
        of webhook: UUID, where filter: WebhookDeliveryFilter, _ page: PageRequest
    ) async throws -> Page<WebhookDelivery>

    func delivery(_ id: UUID, of webhook: UUID) async throws -> WebhookDeliveryLog?

    /// Posts a settled message again, at once and with all retries. A message that is still queued is posted at once.
    ///
    /// - Returns: `nil`: there is no such delivery.
    func replay(
        _ id: UUID, of webhook: UUID, within bounds: WebhookFilter, now: Date
    ) async throws -> WebhookDelivery?
}

/// The webhooks that a caller may see.
package struct WebhookFilter: Sendable, Hashable {
    /// Only webhooks whose topics are all in this set.
    package var topics: Set<WebhookTopic>
    /// Only webhooks whose own reach is within this reach.
    package var reach: AppReach
    /// Only webhooks that this key declared.
    package var declaredBy: UUID?

    package init(
        topics: Set<WebhookTopic> = Set(WebhookTopic.allCases), within reach: AppReach = .all, declaredBy: UUID? = nil
    ) {
        self.topics = topics
        self.reach = reach
        self.declaredBy = declaredBy
    }
}

/// A filter of the log; a member that is `nil` does not filter.
package struct WebhookDeliveryFilter: Sendable, Hashable {
    package var state: WebhookDelivery.State?
    package var topic: WebhookTopic?

    package init(state: WebhookDelivery.State? = nil, topic: WebhookTopic? = nil) {
        self.state = state
        self.topic = topic
    }
}
