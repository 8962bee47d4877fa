internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import GrandstandTestKit
internal import Hummingbird
internal import JSON
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// A replica's memory while nobody keeps it up to date and the database is away.
struct LookupReplicaTests {
    private let clock = ManualClock()

    /// A replica that knows the event `match-1` with the channel `one`.
    private func replica() throws -> LookupReplica {
        let replica = LookupReplica(
            store: LookupStore(database: TestDatabase.away.database),
            settings: .init(patience: .milliseconds(1)), now: { [clock] in clock.now })
        replica.put(try name().key, [try record("one")])
        replica.state.withLock { $0.confirmedAt = clock.now }
        return replica
    }

    private func record(_ channelID: String) throws -> LookupRecord {
        LookupRecord(
            key: try name().key, apnsTopic: "com.example.goal", environment: .production,
            storagePolicy: .noMessageStored,
            channelID: channelID, name: "Match")
    }

    @Test
    func
        `while the database is down known events are answered with their age for a limited time, and unknown ones are not`()
        async throws
    {
        let replica = try replica()
        let (known, unknown) = (try name(), try name("cup"))
        #expect(replica.known(known)?.age == 0)
        // Within the time of two seconds that needs no confirmation, too, nobody knows whether an event exists.
        #expect(await replica.answers(to: [unknown]).map(\.answer) == [.failure(LookupReplica.unavailable)])
        clock.advance(by: 30)
        #expect(replica.known(known)?.age == 30)
        let replies = await replica.answers(to: [known, unknown])
        #expect(replies.map(\.age) == [30, 0])
        #expect(replies[0].lookup?.channelId == "one")
        #expect(replies[1].answer == .failure(LookupReplica.unavailable))
        clock.advance(by: 571)
        #expect(replica.known(known) == nil)
        #expect(await replica.answers(to: [known]).map(\.answer) == [.failure(LookupReplica.unavailable)])
    }

    @Test func `if the database cannot be read since a change, older answers are marked as stale`() async throws {
        let replica = try replica()
        let (known, made) = (try name(), try name("cup"))
        let app = try AppEnvironment.sample()
        replica.state.withLock { $0.pagesUntil = .now + .seconds(3_600) }
        let before = try await replica.page(LookupListQuery(), of: app, uri: "a")
        #expect(before.age == 0)
        #expect(replica.knownPage("a")?.body == before.body)
        replica.changed(["event match-1", "event cup"])
        #expect(replica.known(known) == nil)
        #expect(replica.knownPage("a") == nil)
        let replies = await replica.answers(to: [known, made])
        #expect(replies.map(\.age) == [2, 0])
        #expect(replies[0].lookup?.channelId == "one")
        #expect(replies[1].answer == .failure(LookupReplica.unavailable))
        #expect(try await replica.page(LookupListQuery(), of: app, uri: "a").age == 2)
    }

    @Test func `a list has the documented bytes, and is used for a limited time`() async throws {
        let replica = try replica()
        for (isKept, channelID) in [(true, "one"), (true, "one"), (false, "two")] {
            // A list is used for a second, which this test neither waits for nor exceeds.
            replica.state.withLock { $0.pagesUntil = isKept ? .now + .seconds(3_600) : .now }
            let body = try await replica.page(LookupListQuery(), of: .sample(), uri: "a").body
            #expect(
                String(decoding: body.bytes, as: UTF8.self)
                    == #"{"items":[{"eventKey":"match-1","channelId":"\#(channelID)","storagePolicy":"noMessageStored","#
                    + #""state":"scheduled","startsAt":null,"endsAt":null,"name":"Match","kind":null,"topics":[]}],"#
                    + #""nextCursor":null}"#)
            replica.put(try name().key, [try record("two")])
        }
    }
}

private func name(_ key: String = "match-1") throws -> LookupKey {
    LookupKey(app: try .sample(), key: try .sample(key))
}

extension LookupBody {
    var lookup: Contract.Lookup? { try? JSONValue(decoding: bytes).decode() }
}

extension LookupReplica.Reply {
    /// What was found; `nil`: a problem.
    var lookup: Contract.Lookup? { try? answer.get().lookup }
}

/// A client that changes a lookup's answer and asks the same process does not get the earlier answer, although nothing
/// is announced and the journal is never read.
@Suite(.timeLimit(.minutes(20)))
struct LocalChangeOnPostgresTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        /// The refusal of a lookup before and after the change; `nil`: it finds the channel.
        var before, after: Problem.Kind?
        /// The state that is found after the change.
        var state = Contract.EventState.live
        var prepare: @Sendable (StoreWorld) async throws -> Void = { try await $0.open() }
        let make: @Sendable (StoreWorld) async throws -> Void

        var testDescription: String { name }
    }

    static let changes: [Change] = [
        Change(name: "the first update") { try await $0.accept(.update()) },
        Change(name: "an end with an idempotency key", after: .eventEnded) { stores in
            let request = IdempotentRequest(caller: UUID(), key: "k", content: [], at: stores.now)
            _ = try await IdempotencyStore(database: Database(stores.pool)).once(request) {
                try await stores.accept(.end())
                return Response(status: .accepted)
            }
        },
        Change(
            name: "a channel made", before: .channelPending, state: .scheduled,
            prepare: { try await $0.put(.sample()) }
        ) { try await $0.provision() },
    ]

    @Test(arguments: LocalChangeOnPostgresTests.changes)
    func `the next lookup shows the change`(_ change: Change) async throws {
        try await withDeafReplica { stores, replica, start in
            try await change.prepare(stores)
            try await start()
            let app = try AppEnvironment.sample()
            let list = try await replica.page(LookupListQuery(), of: app, uri: "a").body
            #expect(try await replica.answers(to: [name()])[0].problem?.kind == change.before)
            try await change.make(stores)
            // Memory does not give the older answer.
            #expect(try replica.known(name()) == nil)
            let reply = try await replica.answers(to: [name()])[0]
            #expect(reply.problem?.kind == change.after)
            #expect(reply.age == 0)
            #expect(change.after != nil || reply.lookup?.state == change.state)
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
            let request = IdempotentRequest(caller: UUID(), key: "k", content: [], at: stores.now)
            _ = try await IdempotencyStore(database: Database(stores.pool)).once(request) {
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
            let replica = LookupReplica(
                store: LookupStore(database: test.database), settings: .patient, now: { stores.now })
            try await ending(with: { await pool.close() }) {
                try await body(stores, replica) {
                    try await replica.refresh()
                    changes.follow { replica.changed($0) }
                }
            }
        }
    }
}

/// A replica's memory on a real database whose rows change.
@Suite(.timeLimit(.minutes(20)))
struct ReplicaOnPostgresTests {
    @Test func `changes are found when they are announced, and after the LISTEN connection was lost`() async throws {
        try await withStores(.own) { stores in
            try await stores.open()
            let replica = LookupReplica(store: stores.lookups, settings: .patient, now: { stores.now })
            let signals = WakeUps(stores.history)
            let loop = WorkLoop<Never>(
                .init(pollInterval: .seconds(3_600), topic: .lookups), failure: "no refresh",
                LoopSample.worker(signals: signals)
            ) { _, _ in
                try await replica.refresh()
                return .idle()
            }
            let running = [
                Task { await signals.run(onReconnect: replica.distrust) },
                Task { await loop.run() },
            ]
            defer { for task in running { task.cancel() } }
            func expect(_ channelID: String) async throws {
                try await until("the channel is \(channelID)") {
                    try replica.known(name())?.body.lookup?.channelId == channelID
                }
            }
            try await expect(#require(try await stores.channel().channelID))
            // The replica may have read everything, but not listen yet. `select 1` is the connection's heartbeat.
            let listeners =
                "pg_stat_activity where datname = current_database() and (query ilike 'listen %' or query = 'select 1')"
            try await until("it listens") { try await stores.rows(PostgresQuery(unsafeSQL: listeners)) == 1 }
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
                    PostgresQuery(unsafeSQL: "(select pg_terminate_backend(pid) from \(listeners)) x")) == 1
            }
            try await expect("unannounced")
            try await stores.pool.query("delete from events")
            try await until("the event is gone") { try replica.known(name()) == nil }
        }
    }

    @Test func `everything is read with the changes before it, and what was deleted is forgotten`() async throws {
        try await withStores(.own) { stores in
            for number in 1...5 { try await stores.open("match-\(number)") }
            let replica = LookupReplica(store: stores.lookups, settings: .patient, now: { stores.now })
            // Before everything was read, memory knows nothing. So a request waits.
            #expect(try replica.known(name()) == nil)
            #expect(try await replica.answers(to: [name("match-5")])[0].lookup != nil)
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
            #expect(try await replica.answers(to: [name()])[0].problem?.kind == .eventEnded)
            #expect(try (3...5).map { try replica.known(name("match-\($0)"))?.body } == Array(bodies.dropFirst(2)))
        }
    }
}
