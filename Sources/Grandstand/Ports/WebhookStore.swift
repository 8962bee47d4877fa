package import FoundationEssentials

/// Webhooks as their owners declare them, and the log of what was posted.
///
/// Each write is made only if the webhook is within the writer's bounds as its transaction sees it. One beyond them is not
/// there for the writer.
package protocol WebhookStore: Sendable {
    /// Makes a webhook and its secret, which is seen this once.
    ///
    /// - Throws: `unauthenticated`, `forbidden` for a key that was revoked meanwhile, or no longer reaches the draft's apps;
    ///   `invalid-request` for an app that is not known; `webhook-limit`.
    func create(
        _ draft: WebhookDraft, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret)

    /// Replaces what was said of the webhook; enabling one forgets that it failed.
    ///
    /// - Returns: `nil` when there is none.
    /// - Throws: as `create`, `webhook-limit` for an app that has too many already; `version-mismatch`.
    func replace(
        _ id: UUID, with draft: WebhookDraft, within bounds: WebhookFilter, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> Webhook?

    /// Removes the webhook and its log.
    ///
    /// - Returns: whether there was one.
    func delete(_ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date) async throws -> Bool

    /// Gives the webhook another secret. Messages carry the old one's signature too for `overlap` seconds.
    ///
    /// - Returns: `nil` when there is no such webhook.
    func rotateSecret(
        of id: UUID, overlap: TimeInterval, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret)?

    func webhook(_ id: UUID) async throws -> Webhook?

    /// The oldest first.
    func webhooks(where filter: WebhookFilter, _ page: PageRequest) async throws -> Page<Webhook>

    /// Queues a message of the topic `webhook.test` for this webhook alone, also for a disabled one.
    ///
    /// - Returns: `nil` when there is no such webhook.
    func test(
        _ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> WebhookDelivery?

    /// The newest first.
    func deliveries(
        of webhook: UUID, where filter: WebhookDeliveryFilter, _ page: PageRequest
    ) async throws -> Page<WebhookDelivery>

    func delivery(_ id: UUID, of webhook: UUID) async throws -> WebhookDeliveryLog?

    /// Posts a settled message again, at once and with a whole round of retries; one that is on its way goes at once.
    ///
    /// - Returns: `nil` when there is no such delivery.
    func replay(
        _ id: UUID, of webhook: UUID, within bounds: WebhookFilter, now: Date
    ) async throws -> WebhookDelivery?
}

/// The webhooks that a caller may hear of.
package struct WebhookFilter: Sendable, Hashable {
    /// Webhooks that tell of these only.
    package var topics: Set<WebhookTopic>
    /// Webhooks that hear of nothing beyond this.
    package var reach: AppReach
    /// Only those that this key declared.
    package var declaredBy: UUID?

    package init(
        topics: Set<WebhookTopic> = Set(WebhookTopic.allCases), within reach: AppReach = .all, declaredBy: UUID? = nil
    ) {
        self.topics = topics
        self.reach = reach
        self.declaredBy = declaredBy
    }
}

/// Narrows the log; `nil` does not.
package struct WebhookDeliveryFilter: Sendable, Hashable {
    package var state: WebhookDelivery.State?
    package var topic: WebhookTopic?

    package init(state: WebhookDelivery.State? = nil, topic: WebhookTopic? = nil) {
        self.state = state
        self.topic = topic
    }
}
