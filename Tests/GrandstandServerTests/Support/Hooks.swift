internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The stores including those of webhooks.
struct Hooks: Sendable {
    let stores: StoreWorld
    let webhooks: PostgresWebhookStore
    let outbox: PostgresWebhookOutbox

    init(_ stores: StoreWorld) {
        self.stores = stores
        webhooks = PostgresWebhookStore(Database(stores.pool))
        outbox = PostgresWebhookOutbox(Database(stores.pool))
    }

    @discardableResult
    func add(_ topics: Set<WebhookTopic>, app: String? = nil, apps: [String]? = nil) async throws -> Webhook {
        let url = try #require(WebhookURL(rawValue: "https://example.com/hooks"))
        let names = apps ?? app.map { [$0] }
        let reach = AppReach(of: try names?.map { try BundleID.sample($0) })
        return try await webhooks.create(
            WebhookDraft(url: url, topics: topics, reach: reach), by: .commandLine, now: stores.now
        ).webhook
    }

    func compose() async throws -> Int { try await outbox.compose(now: stores.now, limit: 100) }

    func claim(
        by replica: UUID? = nil, limit: Int = 100, perWebhook: Int = 100, perApp: Int = 100,
        lease: TimeInterval = 20
    ) async throws -> [ClaimedWebhook] {
        try await outbox.claim(
            WebhookClaim(
                replica: replica ?? stores.replica, at: stores.now,
                leasedUntil: stores.now.addingTimeInterval(lease), limit: limit, perWebhook: perWebhook,
                perApp: perApp))
    }

    func settle(_ message: ClaimedWebhook, _ answer: WebhookAnswer, by replica: UUID? = nil) async throws {
        let verdict = WebhookVerdict(answer, tries: message.tries, now: stores.now, jitter: 0.5)
        try await outbox.settle(
            WebhookSettlement(delivery: message.id, verdict: verdict, startedAt: stores.now, milliseconds: 12),
            replica: replica ?? stores.replica, now: stores.now)
    }

    func delivery(_ message: ClaimedWebhook) async throws -> WebhookDelivery {
        try #require(try await webhooks.delivery(message.id, of: message.webhook)).delivery
    }

    /// Queues a test message.
    @discardableResult
    func test(_ webhook: Webhook) async throws -> WebhookDelivery? {
        try await webhooks.test(webhook.id, by: .commandLine, now: stores.now)
    }

    /// Adds a webhook and claims a test message for it.
    func tested() async throws -> (webhook: Webhook, message: ClaimedWebhook) {
        let webhook = try await add([.quotaLevel])
        try await test(webhook)
        return (webhook, try #require(try await claim().first))
    }
}

/// Runs a test with the webhook stores on its own database.
func withHooks(_ content: TestDatabaseContent = .migrated, _ body: (Hooks) async throws -> Void) async throws {
    try await withStores(content) { try await body(Hooks($0)) }
}
