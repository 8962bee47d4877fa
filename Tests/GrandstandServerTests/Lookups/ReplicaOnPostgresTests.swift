internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
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
                return KeptAnswer(status: 202, body: [])
            }
        },
        Change(
            name: "a scheduled end whose time has come", after: "over",
            prepare: { stores in
                try await stores.open()
                try await stores.accept(.end(sendAt: stores.now + 1))
            }
        ) { stores in
            stores.clock.advance(by: 1)
            _ = try await stores.promote()
        },
        Change(name: "an event made", before: "none", after: "pending", prepare: { _ in }) { stores in
            try await stores.put(.sample())
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
            #expect((try replica.known(Self.name())?.answer.kind ?? "none") == change.before)
            try await change.make(stores)
            // The cached answer, if there is one, and the answer that a caller gets.
            if let known = try replica.known(Self.name()) { #expect(known.answer.kind == change.after) }
            let (answer, freshness) = try await replica.answer(to: Self.name())
            #expect(answer?.kind == change.after)
            #expect(freshness == .confirmed)
            #expect(answer?.text.contains(change.text) == true, "\(answer?.text ?? "none")")
        }
    }

    @Test func `a change that was undone leaves the answer as it is`() async throws {
        try await withDeafReplica { stores, replica, start in
            try await stores.open()
            try await start()
            let request = IdempotentRequest(caller: UUID(), key: "k", content: [])
            try await refuses(.eventEnded) {
                try await IdempotencyStore(database: Database(stores.pool)).once(request, now: stores.now) {
                    try await stores.accept(.end())
                    throw Problem(.eventEnded, "It is over.")
                }
            }
            let answer = try await replica.answer(to: Self.name()).answer
            #expect(answer?.kind == "found")
        }
    }

    @Test func `a key revoked or replaced during another request is refused after the commit`()
        async throws
    {
        try await withDeafReplica { stores, _, _ in
            let keys = CachedKeyStore(stores.keys, now: { stores.now })
            let (key, secret) = try await stores.key("k", [.admin])
            try await keys.reload()
            let request = IdempotentRequest(caller: UUID(), key: "k", content: [])
            _ = try await IdempotencyStore(database: Database(stores.pool)).once(request, now: stores.now) {
                _ = try await keys.rotate(key.id, overlap: 0, Caller(key: key))
                // Another caller's request, outside this transaction, which is not committed yet.
                let meanwhile = try await Task.detached { try await keys.authenticate(secret) }.value
                #expect(meanwhile?.id == key.id)
                return KeptAnswer(status: 201, body: [])
            }
            #expect(keys.known(secret) == nil)
            #expect(try await keys.authenticate(secret) == nil)
        }
    }

    // MARK: Helpers

    /// Stores whose transactions report their changes to a replica. It gets no other reports: it does not listen, and
    /// reads the journal after an hour. It reads everything once, at `start`.
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
            var settings = LookupReplica.Settings()
            settings.interval = .seconds(3_600)
            let replica = LookupReplica(
                store: LookupStore(database: test.database), settings: settings, now: { stores.now },
                logger: TestLog.logger("lookups"))
            var running: Task<Void, Never>?
            do {
                try await body(stores, replica) {
                    running = Task { await withDiscardingTaskGroup { await replica.keepUp(&$0) } }
                    try await until("everything is read") { replica.state.withLock(\.backlog.isWhole) }
                    changes.follow { replica.changed($0) }
                }
            } catch {
                running?.cancel()
                await pool.close()
                throw error
            }
            running?.cancel()
            await running?.value
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

    private func replica(_ stores: StoreWorld) -> LookupReplica {
        LookupReplica(store: stores.lookups, now: { stores.now }, logger: TestLog.logger("lookups"))
    }

    @Test func `changes are found announced, in the journal, and after the LISTEN connection was lost`() async throws {
        try await withStores(.own) { stores in
            try await stores.open()
            let replica = replica(stores)
            let running = Task { await replica.run() }
            defer { running.cancel() }
            func expect(_ channelID: String) async throws {
                try await until("the channel is \(channelID)") {
                    try replica.known(name())?.answer.lookup?.channelId == channelID
                }
            }
            try await expect(#require(try await stores.channel().channelID))
            try await stores.pool.query("update channels set channel_id = 'announced'")
            try await expect("announced")
            try await stores.pool.query("alter table channels disable trigger announce_lookup")
            try await stores.pool.query(
                """
                with journal as (insert into lookup_journal (subject) values ('event match-1'))
                update channels set channel_id = 'in the journal'
                """)
            try await expect("in the journal")
            // This change is neither announced nor in the journal. Only a complete reading finds it.
            try await stores.pool.query("update channels set channel_id = 'unannounced'")
            // The replica may have read everything, but not listen yet. So the test tries until there is a connection
            // to end.
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

    @Test func `an event that was read again without a change is stored once`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let replica = replica(stores)
            let running = Task { await replica.run() }
            defer { running.cancel() }
            func storage() -> UnsafeRawPointer? {
                let records = replica.state.withLock { $0.records[key] }
                return records?.withUnsafeBytes { $0.baseAddress }
            }
            try await until("everything was read") { replica.state.withLock(\.backlog.isWhole) }
            let before = storage()
            #expect(before != nil)
            replica.state.withLock { $0.backlog.forgetPosition() }
            replica.bell.ring()
            try await until("everything was read again") { replica.state.withLock(\.backlog.isWhole) }
            #expect(storage() == before)
        }
    }

    @Test func `before the first reading a limited number of lookups go to the database, and the others must retry`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let replica = replica(stores)
            // No loop of the replica runs here, so only the next change removes the answer that the database gave.
            #expect(try await replica.answer(to: name()).answer?.kind == "found")
            replica.changed([.event(try .sample())])
            let isEmpty = replica.state.withLock { $0.told.isEmpty }
            #expect(isEmpty)
            for number in 2...100 { #expect(try await replica.answer(to: name("event-\(number)")).answer == nil) }
            let refusal = await #expect(throws: Problem.self) { try await replica.answer(to: name("event-101")) }
            #expect(refusal?.kind == .storeUnavailable)
            #expect(refusal?.retryAfter == 1)
        }
    }
}
