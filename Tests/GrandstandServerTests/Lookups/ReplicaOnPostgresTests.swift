internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Hummingbird
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// A client that changes a lookup's answer and asks the same process does not get the earlier answer, although nothing
/// is announced and the journal is never read.
@Suite(.timeLimit(.minutes(20)))
struct LocalChangeOnPostgresTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        /// The cached record of the event before the change.
        var before = "found"
        let after: String
        /// What the answer must contain after the change.
        var text = ""
        var prepare: @Sendable (StoreWorld) async throws -> Void = { try await $0.open() }
        let make: @Sendable (StoreWorld) async throws -> Void

        var testDescription: String { name }
    }

    static let changes: [Change] = [
        Change(name: "the first update", after: "found", text: #""live""#) { try await $0.accept(.update()) },
        Change(name: "an end with an idempotency key", after: "over") { stores in
            let request = IdempotentRequest(caller: UUID(), key: "k", content: [])
            _ = try await IdempotencyStore(database: Database(stores.pool)).once(request, now: stores.now) {
                try await stores.accept(.end())
                return Response(status: .accepted)
            }
        },
        Change(name: "a channel made", before: "pending", after: "found", prepare: { try await $0.put(.sample()) }) {
            try await $0.provision()
        },
    ]

    @Test(arguments: LocalChangeOnPostgresTests.changes)
    func `the next lookup shows the change`(_ change: Change) async throws {
        try await withDeafReplica { stores, replica, start in
            try await change.prepare(stores)
            try await start()
            let app = LookupList.App(topic: "com.example.goal", environment: .production)
            let list = try await replica.page(LookupListQuery(), of: app, uri: "a").body
            #expect(try await replica.answers(to: [Self.name()])[0].answer?.kind ?? "none" == change.before)
            try await change.make(stores)
            // Memory does not give the older answer.
            #expect(try replica.known(Self.name()) == nil)
            let reply = try await replica.answers(to: [Self.name()])[0]
            #expect(reply.answer?.kind == change.after)
            #expect(reply.freshness == .confirmed)
            #expect(reply.answer?.text.contains(change.text) == true, "\(reply.answer?.text ?? "none")")
            #expect(try await replica.page(LookupListQuery(), of: app, uri: "a").body != list)
        }
    }

    @Test func `a key revoked or replaced during another request is refused after the commit`()
        async throws
    {
        try await withDeafReplica { stores, _, _ in
            let keys = KeyStore(database: stores.keys.database, now: { stores.now })
            let (key, secret) = try await stores.key("k", [.admin])
            try await keys.reload()
            let request = IdempotentRequest(caller: UUID(), key: "k", content: [])
            _ = try await IdempotencyStore(database: Database(stores.pool)).once(request, now: stores.now) {
                _ = try await keys.rotate(key.id, overlap: 0, by: key.actor)
                // Another caller's request, outside this transaction, which is not committed yet.
                let meanwhile = try await Task.detached { try await keys.authenticate(secret) }.value
                #expect(meanwhile?.id == key.id)
                return Response(status: .created)
            }
            #expect(keys.known(secret) == nil)
            #expect(try await keys.authenticate(secret) == nil)
        }
    }

    // MARK: Helpers

    /// Stores whose transactions report their changes to a replica. Nobody else keeps it up to date. It reads everything
    /// once, at `start`.
    private func withDeafReplica(
        _ body: (StoreWorld, LookupReplica, () async throws -> Void) async throws -> Void
    ) async throws {
        try await withDatabase { test in
            let changes = LocalChanges()
            let pool = PostgresPool(
                configuration: .stores(connectionString: test.connectionString, changes: changes),
                logger: TestLog.logger("database"))
            let stores = StoreWorld(TestDatabase(pool: pool, connectionString: test.connectionString))
            try await stores.apps.put(.sample(at: stores.now))
            let replica = LookupReplica(store: LookupStore(database: test.database), now: { stores.now })
            do {
                try await body(stores, replica) {
                    try await replica.refresh()
                    changes.follow { replica.changed($0) }
                }
            } catch {
                await pool.close()
                throw error
            }
            await pool.close()
        }
    }

    private static func name() throws -> LookupName {
        LookupName(topic: "com.example.goal", environment: .production, key: try .sample())
    }
}

extension LookupAnswer {
    fileprivate var kind: String {
        switch self {
        case .found: "found"
        case .pending: "pending"
        case .over: "over"
        case .noSuchVariant: "no such variant"
        }
    }

    fileprivate var text: String {
        guard case .found(let body) = self else { return "" }
        return String(decoding: body.bytes, as: UTF8.self)
    }
}

/// A replica's memory on a real database whose rows change.
@Suite(.timeLimit(.minutes(20)))
struct ReplicaOnPostgresTests {
    private func name(_ key: String = "match-1") throws -> LookupName {
        LookupName(topic: "com.example.goal", environment: .production, key: try .sample(key))
    }

    @Test func `changes are found when they are announced, and after the LISTEN connection was lost`() async throws {
        try await withStores(.own) { stores in
            try await stores.open()
            let replica = LookupReplica(store: stores.lookups, now: { stores.now })
            let loop = WorkLoop<Never>(
                .every(3_600), failure: "no refresh", logger: TestLog.logger("lookups"), now: { stores.now }
            ) { _, _ in
                try await replica.refresh()
                return .idle()
            }
            let running = [Task { await replica.listen() }, Task { await loop.run(wakenBy: replica.wakes) }]
            defer { for task in running { task.cancel() } }
            func expect(_ channelID: String) async throws {
                try await until("the channel is \(channelID)") {
                    guard let body = try replica.known(name())?.body else { return false }
                    return LookupAnswer.found(body).lookup?.channelId == channelID
                }
            }
            try await expect(#require(try await stores.channel().channelID))
            // The replica may have read everything, but not listen yet.
            let listeners: PostgresQuery =
                "(select pid from pg_stat_activity where datname = current_database() and query ilike 'listen %') x"
            try await until("it listens") { try await stores.rows(listeners) == 1 }
            // The first change may be found because listening begins, but not the others.
            for number in 1...3 {
                try await stores.pool.query("update channels set channel_id = \("announced \(number)")")
                try await expect("announced \(number)")
            }
            // This change is neither announced nor in the journal. Only a complete reading finds it.
            try await stores.pool.query("alter table channels disable trigger announce_lookup")
            try await stores.pool.query("update channels set channel_id = 'unannounced'")
            try await until("its LISTEN connection is ended") {
                try await stores.rows(
                    """
                    (select pg_terminate_backend(pid) from pg_stat_activity
                    where datname = current_database() and query ilike 'listen %') x
                    """) == 1
            }
            try await expect("unannounced")
            try await stores.pool.query("delete from events")
            try await until("the event is gone") { try replica.known(name()) == nil }
        }
    }

    @Test func `everything is read page by page, with the changes before it, and what was deleted is forgotten`()
        async throws
    {
        try await withStores(.own) { stores in
            for number in 1...5 { try await stores.open("match-\(number)") }
            let replica = LookupReplica(store: stores.lookups, settings: .init(pageSize: 2), now: { stores.now })
            // Before everything was read, memory knows nothing. So a request waits.
            #expect(try replica.known(name()) == nil)
            #expect(try await replica.answers(to: [name("match-5")])[0].answer?.kind == "found")
            let bodies = try (1...5).map { try replica.known(name("match-\($0)"))?.body }
            #expect(bodies.allSatisfy { $0 != nil })

            // The journal does not have this deletion.
            try await stores.pool.query("alter table audiences disable trigger announce_lookup")
            try await stores.pool.query("delete from events where key = 'match-2'")
            try await replica.refresh()
            #expect(try replica.known(name("match-2")) != nil)
            replica.state.withLock { $0.needsAll = true }
            try await stores.pool.query("update events set ended_at = now() where key = 'match-1'")
            try await replica.refresh()
            #expect(try replica.known(name("match-2")) == nil)
            #expect(try await replica.answers(to: [name()])[0].answer == .over())
            #expect(try (3...5).map { try replica.known(name("match-\($0)"))?.body } == Array(bodies.dropFirst(2)))
        }
    }
}
