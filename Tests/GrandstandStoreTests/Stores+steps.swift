internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// The calls that many tests make, for the sample app in production.
extension Stores {
    var history: PostgresHistory { PostgresHistory(Database(pool)) }
    var lookups: PostgresLookupSource { PostgresLookupSource(Database(pool)) }

    // MARK: Events

    func event(_ key: String = "match-1") async throws -> Event? {
        try await events.event(.sample(key), now: now)
    }

    func cancel(_ key: String = "match-1") async throws { try await events.cancel(.sample(key), now: now) }

    /// The lookup of one event by SQL.
    func lookup(
        _ key: String = "match-1", topic: String = "com.example.goal", in environment: APNsEnvironment = .production,
        variant: String? = nil, contentState: Bool = false
    ) async throws -> LookupEntry? {
        try await events.lookup(
            topic: topic, in: environment, .sample(key), variant: variant.flatMap(Variant.init),
            contentState: contentState, now: now)
    }

    /// Plans the scheduled messages whose time has come, and returns their number.
    @discardableResult
    func promote() async throws -> Int { try await outbox.promote(now: now, limit: 10, plan: Self.plan) }

    /// The newest entries of the audit log first.
    func audited(_ filter: AuditFilter = AuditFilter()) async throws -> [AuditEntry] {
        try await auditLog.entries(where: filter, PageRequest()).items
    }

    // MARK: Channels

    func quotas() async throws -> [Quota] { try await channels.quotas(now: now, tenure: Self.tenure) }

    /// The first app's quota in production.
    func quota() async throws -> Quota { try #require(try await quotas().first { $0.environment == .production }) }

    /// Reserves a channel without an event.
    func reserve(
        _ bundleID: String = "com.example.Goal", in environment: APNsEnvironment = .production,
        leasedFor seconds: TimeInterval = 10
    ) async throws -> ChannelTask {
        try await channels.reserve(
            ChannelDraft(
                bundleID: .sample(bundleID), environment: environment, storagePolicy: .noMessageStored, label: "by hand"
            ), now: now, leasedUntil: now + seconds)
    }

    /// Records that Apple refused to create the channel, and when the creation is due again.
    @discardableResult
    func refuse(
        _ task: ChannelTask, _ reason: String, status: Int = 400, for seconds: TimeInterval
    ) async throws -> Channel {
        try await record(
            .notCreated(state: .failed, nextAttemptAt: now + seconds), of: task,
            APNsRecord(status: status, reason: reason, requestID: nil))
    }

    /// Imports a channel that was created elsewhere, for an event or for none.
    @discardableResult
    func adopt(
        _ channelID: String = "console==", for key: String? = nil, variant: String? = nil,
        _ policy: StoragePolicy = .mostRecentMessageStored, of bundleID: String = "com.example.Goal",
        within reach: AppReach = .all
    ) async throws -> Channel {
        let channel = ChannelImport(
            bundleID: try .sample(bundleID), environment: .production, channelID: channelID, storagePolicy: policy,
            label: "by hand", eventKey: try key.map { try .sample($0) }, variant: variant.flatMap(Variant.init),
            within: reach, answer: APNsRecord(status: 200, reason: nil, requestID: nil))
        return try await channels.import(channel, by: .server, now: now)
    }
}

extension Hooks {
    /// The topics of all messages, the oldest first.
    func told() async throws -> [String] {
        _ = try await compose()
        return try await stores.pool.query(
            "select topic::text as topic from webhook_messages order by created_at, topic::text"
        ).map { try $0.decode("topic") }
    }
}

/// Calls `body` so often at the same time, with the numbers from 0.
func concurrently<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
