package import FoundationEssentials
package import Grandstand

/// An `InstallationStore` whose answers the test sets.
package struct FakeInstallations: InstallationStore {
    package var save: @Sendable (InstallationState, InstallationID, String) throws -> Bool = unasked
    package var find: @Sendable (InstallationID, String) throws -> KnownInstallation = unasked
    package var remove: @Sendable (InstallationID, String) throws -> Void = unasked
    package var report: @Sendable (DeviceActivity) throws -> Bool = unasked
    package var count: @Sendable (AppEnvironment) throws -> InstallationStatistics = unasked

    package init() {}

    package func put(
        _ state: InstallationState, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool { try save(state, id, secret) }
    package func installation(_ id: InstallationID, secret: String) async throws -> KnownInstallation {
        try find(id, secret)
    }
    package func forget(_ id: InstallationID, secret: String) async throws { try remove(id, secret) }
    package func put(
        _ activity: DeviceActivity, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool { try report(activity) }
    package func forget(activity: String, of id: InstallationID, secret: String) async throws {
        throw Unasked()
    }
    package func statistics(of app: AppEnvironment) async throws -> InstallationStatistics { try count(app) }
}

/// A `WebhookStore` whose answers the test sets.
package struct FakeWebhooks: WebhookStore {
    package typealias Log = @Sendable (UUID, WebhookDeliveryFilter, PageRequest) throws -> Page<WebhookDelivery>

    package var find: @Sendable (UUID) throws -> Webhook? = unasked
    package var list: @Sendable (WebhookFilter, PageRequest) throws -> Page<Webhook> = unasked
    package var make: @Sendable (WebhookDraft) throws -> (webhook: Webhook, secret: WebhookSecret) = unasked
    package var save: @Sendable (UUID, WebhookDraft, WriteCondition) throws -> Webhook? = unasked
    package var remove: @Sendable (UUID, WebhookFilter) throws -> Bool = unasked
    package var rotate: @Sendable (UUID, TimeInterval) throws -> (webhook: Webhook, secret: WebhookSecret)? = unasked
    package var post: @Sendable (UUID) throws -> WebhookDelivery? = unasked
    package var log: Log = unasked
    package var read: @Sendable (UUID, UUID) throws -> WebhookDeliveryLog? = unasked
    package var again: @Sendable (UUID, UUID) throws -> WebhookDelivery? = unasked

    package init() {}

    package func webhook(_ id: UUID) async throws -> Webhook? { try find(id) }
    package func webhooks(where filter: WebhookFilter, _ page: PageRequest) async throws -> Page<Webhook> {
        try list(filter, page)
    }
    package func create(
        _ draft: WebhookDraft, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret) { try make(draft) }
    package func replace(
        _ id: UUID, with draft: WebhookDraft, within bounds: WebhookFilter, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> Webhook? { try save(id, draft, condition) }
    package func delete(
        _ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> Bool { try remove(id, bounds) }
    package func rotateSecret(
        of id: UUID, overlap: TimeInterval, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret)? { try rotate(id, overlap) }
    package func test(
        _ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> WebhookDelivery? { try post(id) }
    package func deliveries(
        of webhook: UUID, where filter: WebhookDeliveryFilter, _ page: PageRequest
    ) async throws -> Page<WebhookDelivery> { try log(webhook, filter, page) }
    package func delivery(_ id: UUID, of webhook: UUID) async throws -> WebhookDeliveryLog? {
        try read(id, webhook)
    }
    package func replay(
        _ id: UUID, of webhook: UUID, within bounds: WebhookFilter, now: Date
    ) async throws -> WebhookDelivery? {
        try again(id, webhook)
    }
}
