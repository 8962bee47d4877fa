internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Old rows that are finished are deleted. Rows that are live, wait, or still exist at Apple are kept.
@Suite(.timeLimit(.minutes(20)))
struct LedgerHistoryTests {
    private static let month = 30 * 86_400.0
    private static let tables = [
        "events", "audiences", "channels", "broadcasts", "deliveries", "event_starts", "start_runs",
        "starts",
    ]

    @Test func `an old event is removed with all its data, and its key can be declared again`() async throws {
        try await withStores { stores in
            let empty = try await stores.filled(Self.tables)
            try await Self.play(stores, "match-1")
            try await Self.addRows(stores, "match-1")
            let full = try await stores.filled(Self.tables)
            for table in Self.tables { #expect(full[table] ?? 0 > empty[table] ?? 0, "\(table) is empty") }
            try await Self.prune(stores)
            #expect(try await stores.filled(Self.tables) == full)

            stores.clock.advance(by: Self.month + 1)
            try await Self.prune(stores)
            #expect(try await stores.filled(Self.tables) == empty)
            let lookup = try await stores.lookup()
            #expect(lookup == nil)

            try await stores.open()
            try await stores.accept(.update())
            try await stores.sendOne()
        }
    }

    @Test func `what is live, planned, scheduled, retiring or at Apple stays, however old`() async throws {
        try await withStores { stores in
            let later = stores.now + 4 * Self.month
            try await stores.open("live")
            // An event that is cancelled long before it starts. Until its start a nightly job may declare it again.
            try await stores.put(.sample(startsAt: later, endsAt: later.addingTimeInterval(7_200)), as: "called-off")
            _ = try await stores.events.cancel(.sample("called-off"), by: .server, now: stores.now)
            try await stores.open("retiring")
            try await stores.accept(.end(), for: "retiring")
            try await stores.sendOne()
            try await stores.align()
            try await stores.open("waiting")
            try await stores.accept(.end(), for: "waiting")
            stores.clock.advance(by: 2 * Self.month)
            try await Self.prune(stores)
            for key in ["live", "called-off", "retiring", "waiting"] {
                #expect(try await Self.has(key, stores), "\(key)")
            }
            #expect(try await stores.channel(of: "retiring").state == .retiring)

            // The row of a channel that was deleted at Apple a moment ago is kept.
            try await stores.provision()
            #expect(try await stores.channel(of: "retiring").state == .deleted)
            try await Self.prune(stores)
            #expect(try await Self.has("retiring", stores))
            stores.clock.advance(by: Self.month + 1)
            try await Self.prune(stores)
            #expect(try await Self.has("retiring", stores) == false)
        }
    }

    @Test func `an event's earlier channels and the lanes of removed audiences are removed`() async throws {
        try await withStores { stores in
            let second = try Audience.sample("com.example.Other")
            try await stores.open(audiences: [.sample(), second])
            let lanes = try await stores.rows("audiences")
            // The audience `second` is removed after its channel was created. The third audience is removed before its
            // channel is created.
            try await stores.put(.sample(audiences: [.sample()]))
            try await stores.put(.sample(audiences: [.sample(), .sample("com.example.Third")]))
            try await stores.put(.sample(audiences: [.sample()]))
            try await stores.align()
            stores.clock.advance(by: StoreWorld.retireAfter)
            try await stores.provision()
            stores.clock.advance(by: Self.month + 1)
            try await Self.prune(stores)
            #expect(try await stores.rows("channels") == 1)
            #expect(try await stores.rows("audiences") == lanes - 1)
            try await stores.accept(.update())
            try await stores.sendOne()
        }
    }

    @Test func `a million starts are removed in steps, and the event after the last`() async throws {
        try await withStores { stores in
            try await Self.play(stores, "match-1")
            try await Self.addRows(stores, "match-1", starts: 12_000)
            stores.clock.advance(by: Self.month + 1)
            let history = stores.history
            let cutoff = stores.now.addingTimeInterval(-Self.month)
            for left in [7_000, 2_000] {
                #expect(try await history.prune("events", before: cutoff, limit: 10) == 5_000)
                #expect(try await stores.rows("starts") == left)
                #expect(try await Self.has("match-1", stores))
            }
            // The other starts, two messages and the event.
            #expect(try await history.prune("events", before: cutoff, limit: 10) == 2_003)
            #expect(try await Self.has("match-1", stores) == false)
        }
    }

    @Test func `all old rows are removed in one round, and a rule that fails does not stop the others`() async throws {
        try await withStores { stores in
            for name in ["a", "b", "c", "kept"] {
                _ = try await stores.keys.create(name: name, scopes: [.lookup], bundleID: nil, by: .commandLine)
            }
            try await stores.pool.query("update api_keys set revoked_at = \(stores.now) where name <> 'kept'")
            #expect(try await stores.history.prune("keys", before: stores.now, limit: 10) == 0)
            var keys = try #require(Retention.rules().first { $0.name == "keys" })
            keys.chunk = 2
            let wrong = RetentionRule(name: "wrong", keep: 0) { _, _ in Removal("select wrong") { _ in [] } }
            let later = stores.now + 1
            await #expect(throws: Problem.self) { try await stores.history.prune([wrong, keys]) { later } }
            #expect(try await stores.rows("api_keys") == 1)
        }
    }

    // MARK: Steps

    private static func has(_ key: String, _ stores: StoreWorld) async throws -> Bool {
        try await stores.event(key) != nil
    }

    /// Removes old events, channels and lanes until none are left.
    private static func prune(_ stores: StoreWorld) async throws {
        let cutoff = stores.now.addingTimeInterval(-month)
        let history = stores.history
        for rows in ["events", "channels", "lanes"] {
            while try await history.prune(rows, before: cutoff, limit: 2) >= 2 {}
        }
    }

    /// Plays an event from its declaration to the deletion of its channel.
    private static func play(_ stores: StoreWorld, _ key: String) async throws {
        try await stores.open(key)
        try await stores.accept(.update(), for: key)
        try await stores.sendOne()
        try await stores.accept(.end(), for: key)
        try await stores.sendOne()
        try await stores.align()
        stores.clock.advance(by: 2 * StoreWorld.retireAfter)
        try await stores.provision()
        #expect(try await stores.channel(of: key).state == .deleted)
    }

    /// What other parts of the server add to an event: a start that is over.
    private static func addRows(_ stores: StoreWorld, _ key: String, starts: Int = 3) async throws {
        let pool = stores.pool
        try await pool.query(
            """
            insert into event_starts (event_key, declaration, attributes_type)
            values (\(key), '{"attributesType": "A", "attributes": {}, "alert": {}, "restart": false}', 'A')
            """)
        try await pool.query(
            """
            with run as (
                insert into start_runs (event_key, app, topics, attributes_type, closed_at)
                select \(key), id, '{}', 'A', \(stores.now) from app_environments limit 1 returning id
            )
            insert into starts (run, installation, state, at)
            select id, n, 'accepted', \(stores.now) from run, generate_series(1, \(starts)) n
            """)
    }
}

/// Old rows are deleted in steps.
@Suite(.timeLimit(.minutes(20)))
struct HistoryTests {
    @Test func `old settled broadcasts are removed, oldest first, but not waiting ones or an event's newest`()
        async throws
    {
        try await withStores { stores in
            let history = stores.history
            try await stores.open()
            let scheduled = try await stores.accept(.update(sendAt: stores.now + 86_400)).id
            var ids: [String] = []
            for _ in 0..<4 {
                ids.append(try await stores.accept(.update()).id)
                try await stores.sendOne()
                stores.clock.advance(by: 10)
            }
            // This message is old but not sent yet, because its channel does not exist.
            try await stores.put(.sample(), as: "waiting")
            let waiting = try await stores.accept(.update(), for: "waiting").id
            let cutoff = stores.now + 1

            #expect(try await history.prune("broadcasts", before: stores.now - 100, limit: 10) == 0)
            #expect(try await history.prune("broadcasts", before: cutoff, limit: 2) == 2)
            for id in ids.prefix(2) { #expect(try await stores.outbox.broadcast(id) == nil) }
            #expect(try await stores.outbox.broadcast(ids[2]) != nil)
            #expect(try await history.prune("broadcasts", before: cutoff, limit: 10) == 1)
            #expect(try await history.prune("broadcasts", before: cutoff, limit: 10) == 0)
            for id in [ids[3], waiting, scheduled] { #expect(try await stores.outbox.broadcast(id) != nil) }
            #expect(try await stores.lookup()?.contentState != nil)
        }
    }
}
