internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Messages that are claimed in the transaction that accepts them.
struct DirectSendTests {
    /// Runs a test with an outbox that may send at once, next to one that may not.
    private func withDirectSends(
        places: Int = 100, _ body: (Stores, PostgresOutbox, ManualDirectSends) async throws -> Void
    ) async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            let directSends = ManualDirectSends(places: places, clock: stores.clock)
            try await body(stores, PostgresOutbox(database.database, directSends: directSends), directSends)
        }
    }

    private func accept(
        _ requests: [BroadcastRequest], for keys: [String] = ["match-1"], _ stores: Stores, _ outbox: PostgresOutbox
    ) async throws -> [Broadcast] {
        let items = try keys.flatMap { key in
            try requests.map { BroadcastIntake(eventKey: try .sample(key), request: $0) }
        }
        return try await outbox.accept(items, now: stores.now, plan: Stores.plan).map { try $0.get() }
    }

    @Test func `the message of an idle lane is in flight with its commit, exactly as after a claim`() async throws {
        try await withDirectSends { stores, outbox, directSends in
            try await stores.open()
            try await stores.open("match-2")
            let request = BroadcastRequest.update(#"{"score":"1:0"}"#, alert: #"{"title":"Goal"}"#)
            let atOnce = try await accept([request], stores, outbox)[0]
            let later = try await stores.accept(request, for: "match-2")
            let sent = directSends.take()
            let claimed = try await stores.claim()
            #expect(sent.count == 1)
            #expect(claimed.count == 1)
            let (one, other) = (try #require(sent.first), try #require(claimed.first))
            #expect(one.message.body == other.message.body)
            #expect(one.message.priority == other.message.priority)
            #expect(one.message.expiration == other.message.expiration)
            #expect(one.address == other.address)
            #expect(one.attempts == 1)
            #expect(one.expiresAt == other.expiresAt)
            #expect(try await stores.state(of: atOnce) == .sending)
            #expect(try await stores.delivery(of: atOnce).timestamp == one.timestamp)
            #expect(try await stores.state(of: later) == .sending)
            try await stores.settle(one, .ok, by: directSends.replica)
            #expect(try await stores.state(of: atOnce) == .accepted)
        }
    }

    @Test func `several messages for one lane are left to claims, which order them`() async throws {
        try await withDirectSends { stores, outbox, directSends in
            try await stores.open()
            _ = try await accept(
                [
                    .update(#"{"n":1}"#), .update(#"{"n":2}"#, alert: #"{"title":"Goal"}"#), .update(#"{"n":3}"#),
                    .end(),
                ], stores, outbox)
            #expect(directSends.take().isEmpty)
            let head = try await stores.sendOne()
            #expect(head.text.contains(#""alert":{"title":"Goal"}"#))
            #expect(try await stores.claim().map { $0.text.contains(#""event":"end""#) } == [true])
        }
    }

    @Test func `as many messages are sent directly as there are places, the urgent first, and the rest is due`()
        async throws
    {
        try await withDirectSends(places: 2) { stores, outbox, directSends in
            for n in 1...5 { try await stores.open("match-\(n)") }
            let items = try (1...5).map { n in
                BroadcastIntake(
                    eventKey: try .sample("match-\(n)"),
                    request: .update("{\"n\":\(n)}", priority: n > 3 ? .immediate : .powerAware))
            }
            _ = try await outbox.accept(items, now: stores.now, plan: Stores.plan)
            #expect(directSends.record.wanted == [5])
            let texts = directSends.take().map(\.text)
            #expect(texts.count == 2)
            for n in 4...5 { #expect(texts.contains { $0.contains("{\"n\":\(n)}") }) }
            #expect(try await stores.claim().count == 3)
        }
    }

    @Test func `a message that waits for its channel needs no place`() async throws {
        try await withDirectSends { stores, outbox, directSends in
            try await stores.put(.sample())
            let broadcast = try await accept([.update()], stores, outbox)[0]
            #expect(directSends.record.wanted.isEmpty)
            #expect(try await stores.state(of: broadcast) == .waiting)
        }
    }

    @Test func `nothing is sent if its transaction is undone`() async throws {
        try await withDirectSends { stores, outbox, directSends in
            try await stores.open()
            struct Undone: Error {}
            let database = Database(stores.pool)
            let joining = PostgresOutbox(database, directSends: directSends)
            await #expect(throws: Undone.self) {
                try await stores.pool.transaction { connection in
                    try await database.joining(connection, Database.Commit()) {
                        _ = try await accept([.update()], stores, joining)
                    }
                    throw Undone()
                }
            }
            #expect(directSends.take().isEmpty)
            #expect(try await stores.rows("deliveries") == 0)
            // The lane can be claimed as before.
            _ = try await accept([.update()], stores, outbox)
            #expect(directSends.take().count == 1)
        }
    }

    @Test func `a direct send writes its lane once, and no index of it`() async throws {
        try await withDirectSends { stores, outbox, directSends in
            try await stores.open()
            // The first update writes rows that later updates find.
            for n in 1...2 {
                let database = Database(stores.pool)
                let joining = PostgresOutbox(database, directSends: directSends)
                let accepted = try await writes(stores, database) {
                    _ = try await accept([.update(#"{"n":\#(n)}"#)], stores, joining)
                }
                #expect(accepted == Writes(all: 1, onTheirPage: 1))
                let sent = try #require(directSends.take().first)
                let settled = try await writes(stores, database) {
                    let settlement = Settlement(
                        delivery: sent.id, lane: sent.lane, verdict: .ok, at: stores.now)
                    try await joining.settle([settlement], replica: directSends.replica, now: stores.now)
                }
                #expect(settled == Writes(all: 0, onTheirPage: 0))
                stores.clock.advance(by: 1)
            }
            // The settlement does not remove the lease. The end of the lease makes nothing due.
            stores.clock.advance(by: 10)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.outbox.nextDue() == nil)
            try await stores.accept(.update(#"{"n":3}"#))
            #expect(try await stores.sendOne().text.contains(#"{"n":3}"#))
        }
    }

    private struct Writes: Equatable {
        let all: Int
        /// Updates that wrote no index entry (HOT updates).
        let onTheirPage: Int
    }

    /// How often `body` changed rows of `lanes`, in one transaction.
    private func writes(
        _ stores: Stores, _ database: Database, _ body: @Sendable () async throws -> Void
    ) async throws -> Writes {
        let commit = Database.Commit()
        let writes = try await stores.pool.transaction { connection in
            let before = try await Self.writes(connection)
            try await database.joining(connection, commit) { try await body() }
            let after = try await Self.writes(connection)
            return Writes(all: after.all - before.all, onTheirPage: after.onTheirPage - before.onTheirPage)
        }
        commit.happened()
        return writes
    }

    /// The updates in this session since PostgreSQL last published its counts.
    private static func writes(_ connection: PostgresConnection) async throws -> Writes {
        let row = try #require(
            try await connection.query(
                """
                select pg_stat_get_xact_tuples_updated('lanes'::regclass) as all,
                    pg_stat_get_xact_tuples_hot_updated('lanes'::regclass) as hot
                """
            ).first)
        return Writes(all: try row.decode("all"), onTheirPage: try row.decode("hot"))
    }
}
