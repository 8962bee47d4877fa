internal import FoundationEssentials
internal import Grandstand

/// An `InstallationStore` whose answers the test sets.
struct FakeInstallations: InstallationStore {
    var save: @Sendable (InstallationState, InstallationID, String) throws -> Bool = unasked
    var find: @Sendable (InstallationID, String) throws -> KnownInstallation = unasked
    var remove: @Sendable (InstallationID, String) throws -> Void = unasked
    var report: @Sendable (DeviceActivity) throws -> Bool = unasked
    var count: @Sendable (AppEnvironment) throws -> InstallationStatistics = unasked

    func put(
        _ state: InstallationState, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool { try save(state, id, secret) }
    func installation(_ id: InstallationID, secret: String) async throws -> KnownInstallation {
        try find(id, secret)
    }
    func forget(_ id: InstallationID, secret: String) async throws { try remove(id, secret) }
    func put(
        _ activity: DeviceActivity, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool { try report(activity) }
    func forget(activity: String, of id: InstallationID, secret: String) async throws {
        throw Unasked()
    }
    func statistics(of app: AppEnvironment) async throws -> InstallationStatistics { try count(app) }
}

/// A `WebhookStore` whose answers the test sets.
struct FakeWebhooks: WebhookStore {
    typealias Log = @Sendable (UUID, WebhookDeliveryFilter, PageRequest) throws -> Page<WebhookDelivery>

    var find: @Sendable (UUID) throws -> Webhook? = unasked
    var list: @Sendable (WebhookFilter, PageRequest) throws -> Page<Webhook> = unasked
    var make: @Sendable (WebhookDraft) throws -> (webhook: Webhook, secret: WebhookSecret) = unasked
    var save: @Sendable (UUID, WebhookDraft, WriteCondition) throws -> Webhook? = unasked
    var remove: @Sendable (UUID, WebhookFilter) throws -> Bool = unasked
    var rotate: @Sendable (UUID, TimeInterval) throws -> (webhook: Webhook, secret: WebhookSecret)? = unasked
    var post: @Sendable (UUID) throws -> WebhookDelivery? = unasked
    var log: Log = unasked
    var read: @Sendable (UUID, UUID) throws -> WebhookDeliveryLog? = unasked
    var again: @Sendable (UUID, UUID) throws -> WebhookDelivery? = unasked

    func webhook(_ id: UUID) async throws -> Webhook? { try find(id) }
    func webhooks(where filter: WebhookFilter, _ page: PageRequest) async throws -> Page<Webhook> {
        try list(filter, page)
    }
    func create(
        _ draft: WebhookDraft, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret) { try make(draft) }
    func replace(
        _ id: UUID, with draft: WebhookDraft, within bounds: WebhookFilter, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> Webhook? { try save(id, draft, condition) }
    func delete(
        _ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> Bool { try remove(id, bounds) }
    func rotateSecret(
        of id: UUID, overlap: TimeInterval, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret)? { try rotate(id, overlap) }
    func test(
        _ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> WebhookDelivery? { try post(id) }
    func deliveries(
        of webhook: UUID, where filter: WebhookDeliveryFilter, _ page: PageRequest
    ) async throws -> Page<WebhookDelivery> { try log(webhook, filter, page) }
    func delivery(_ id: UUID, of webhook: UUID) async throws -> WebhookDeliveryLog? {
        try read(id, webhook)
    }
    func replay(
        _ id: UUID, of webhook: UUID, within bounds: WebhookFilter, now: Date
    ) async throws -> WebhookDelivery? {
        try again(id, webhook)
    }
}
