internal import ContractKit
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The stores including those of webhooks.
struct Hooks: Sendable {
    let stores: StoreWorld
    let webhooks: WebhookStore
    /// An administrator, whose key is in the database.
    let caller: APIKey

    init(_ stores: StoreWorld) async throws {
        self.stores = stores
        webhooks = WebhookStore(database: Database(stores.pool), now: { stores.now })
        caller = try await stores.key("hooks", [.admin]).key
    }

    @discardableResult
    func add(
        _ topics: [Contract.WebhookTopic], app: String? = nil, apps: [String]? = nil
    ) async throws -> Contract.Webhook {
        let draft = Contract.WebhookDraft(
            url: "https://example.com/hooks", topics: topics, bundleIds: apps ?? app.map { [$0] })
        let id = Sample.known(UUID(uuidString: try await webhooks.create(draft, caller).id))
        return try await webhook(id).value
    }

    func webhook(_ id: UUID) async throws -> Versioned<Contract.Webhook> { try await webhooks.webhook(id, caller) }

    func log(_ webhook: UUID) async throws -> [Contract.WebhookDelivery] {
        try await webhooks.deliveries(of: webhook, PageRequest(), caller).items
    }

    /// The topics of all messages, the oldest first.
    func told() async throws -> [String] {
        try await stores.pool.query(
            "select topic::text as topic from webhook_messages order by created_at, topic::text"
        ).map { try $0.decode("topic") }
    }

    /// The bodies of the messages that are due, which are claimed.
    func bodies() async throws -> [String] {
        try await claim().map(\.body.description).sorted()
    }

    func claim(
        by replica: UUID? = nil, limit: Int = 100, perWebhook: Int = 100, perApp: Int = 100,
        lease: TimeInterval = 20
    ) async throws -> [WebhookClaim] {
        let messages = try await webhooks.claim(
            limit, by: replica ?? stores.replica, at: stores.now, until: stores.now.addingTimeInterval(lease),
            perWebhook: perWebhook, perApp: perApp)
        for message in messages { try Self.check(message) }
        return messages
    }

    /// Expects that a message fits the contract. `WebhookData` lists the schemas of the topics in the order of
    /// `WebhookMessageType`.
    private static func check(_ message: WebhookClaim) throws {
        let (contract, value) = (OpenAPIDocument.served, try YAML(json: message.body.bytes))
        let data = try #require(contract.schema("WebhookData"))
        let topics = Contract.WebhookMessageType.allCases.map(\.rawValue)
        let topic = try #require(value["type"]?.string)
        let place = try #require(topics.firstIndex(of: topic))
        let schemas = [("", contract.schema("WebhookMessage")), ("data", data["anyOf"]?.elements[place])]
        for (member, schema) in schemas {
            let part = try #require(member.isEmpty ? value : value[member])
            #expect(contract.faults(of: part, in: try #require(schema)) == [], "\(topic)")
        }
    }

    func settle(_ message: WebhookClaim, _ answer: WebhookAnswer, by replica: UUID? = nil) async throws {
        let verdict = WebhookVerdict(answer, tries: message.tries, now: stores.now, jitter: 0.5)
        let attempt = Contract.WebhookAttempt(
            attempt: message.attempts, at: stores.now, milliseconds: 12, status: verdict.status,
            reason: verdict.reason)
        try await webhooks.settle(message, verdict, attempt, replica: replica ?? stores.replica, now: stores.now)
    }

    func delivery(_ message: WebhookClaim) async throws -> Contract.WebhookDeliveryLog {
        try await webhooks.delivery(message.id, of: message.webhook, caller)
    }

    /// Turns a webhook on or off, and changes nothing else.
    func setEnabled(_ isEnabled: Bool, _ id: UUID) async throws {
        let present = try await webhook(id)
        let webhook = present.value
        let draft = Contract.WebhookDraft(
            url: webhook.url, description: webhook.description, topics: webhook.topics, bundleIds: webhook.bundleIds,
            enabled: isEnabled)
        _ = try await webhooks.replace(id, with: draft, if: .versions([present.version]), caller)
    }

    /// Queues a test message.
    @discardableResult
    func test(_ webhook: Contract.Webhook) async throws -> Contract.WebhookDelivery {
        try await webhooks.test(webhook.uuid, caller)
    }

    /// Adds a webhook and claims a test message for it.
    func tested() async throws -> (webhook: Contract.Webhook, message: WebhookClaim) {
        let webhook = try await add([.quotaLevel])
        try await test(webhook)
        return (webhook, try #require(try await claim().first))
    }
}

extension Contract.Webhook {
    var uuid: UUID { Sample.known(UUID(uuidString: id)) }
}

/// Runs a test with the webhook stores on its own database.
func withHooks(_ content: TestDatabaseContent = .migrated, _ body: (Hooks) async throws -> Void) async throws {
    try await withStores(content) { try await body(try await Hooks($0)) }
}
