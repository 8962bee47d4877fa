internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandService
@testable internal import GrandstandStore

/// A replica's cache on a real database whose rows change.
@Suite(.timeLimit(.minutes(3)))
struct ReplicaOnPostgresTests {
    @Test func `after a commit both of two replicas know the change`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await withReplica(stores) { one in
                try await withReplica(stores) { two in
                    for replica in [one, two] { try await replica.waits(for: "found", of: "match-1") }
                    try await stores.accept(.end(), for: "match-1")
                    for replica in [one, two] {
                        try await replica.waits(for: "over", of: "match-1")
                    }
                }
            }
        }
    }

    @Test func `an event that is deleted and created again is the new one`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await withReplica(stores) { replica in
                try await replica.waits(for: "found", of: "match-1")
                try await stores.pool.query("delete from events")
                try await replica.waits(for: nil, of: "match-1")
                try await stores.put(.sample("match-1"))
                try await replica.waits(for: "pending", of: "match-1")
                try await stores.provision()
                try await replica.waits(for: "found", of: "match-1")
                // The channel changes in one transaction, so it is never seen as missing.
                let before = try await stores.channel().channelID
                try await stores.pool.query("update channels set channel_id = 'newer' where event_key = 'match-1'")
                try await until("the newer channel is named") { replica.text("match-1")?.contains("\"newer\"") == true }
                #expect(before != "newer")
            }
        }
    }

    @Test func `changes without announcements are found in the journal`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await stores.open("match-2")
            try await withReplica(stores) { replica in
                try await replica.waits(for: "found", of: "match-2")
                try await stores.pool.query(
                    """
                    create or replace function announce_lookup(what text) returns void language plpgsql as $$
                    begin
                        insert into lookup_journal (subject) values (what) on conflict do nothing;
                        -- Only the second event's change is announced, after the change of the first.
                        if what = 'event match-2' then
                            perform pg_notify('grandstand_lookup', pg_current_xact_id()::text || ' ' || what);
                        end if;
                    end
                    $$
                    """)
                try await stores.accept(.end(), for: "match-1")
                try await stores.accept(.end(), for: "match-2")
                try await replica.waits(for: "over", of: "match-1")
                try await replica.waits(for: "over", of: "match-2")
            }
        }
    }

    @Test func `after the LISTEN connection is lost it is opened again, and everything is read`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await withReplica(stores) { replica in
                try await replica.waits(for: "found", of: "match-1")
                // Without the trigger the change is neither announced nor in the journal. Only a complete reading finds
                // it.
                try await stores.pool.query("alter table channels disable trigger announce_lookup")
                try await stores.pool.query("update channels set channel_id = 'unannounced'")
                // The replica may have read everything, but not listen yet. So the test tries until there is a
                // connection to end.
                try await until("its LISTEN connection is ended") {
                    try await stores.count(
                        """
                        select count(*)::int as n from (
                            select pg_terminate_backend(pid) from pg_stat_activity
                            where datname = current_database() and query ilike 'listen %') x
                        """) == 1
                }
                try await until("everything was read") { replica.text("match-1")?.contains("unannounced") == true }
            }
        }
    }

    @Test
    func `during many changes while everything is read nothing is late or missing`()
        async throws
    {
        try await withStores { stores in
            for number in 1...3 { try await stores.open("match-\(number)") }
            try await stores.pool.query(
                """
                insert into events (key, name, created_at, updated_at)
                    select 'storm-' || n, 'x', now(), now() from generate_series(1, 500) n
                """)
            try await stores.pool.query(
                """
                with l as (
                    insert into lanes (bundle_id, environment, storage_policy, channel)
                    select bundle_id, environment, storage_policy, channel
                    from (select * from lanes order by id limit 1) one, generate_series(1, 500) returning *
                ), numbered as (select *, row_number() over (order by id) as n from l)
                insert into audiences (event_key, bundle_id, environment, storage_policy, position, lane)
                    select 'storm-' || n, bundle_id, environment, storage_policy, 0, id from numbered
                """)
            let source = HeldSource(PostgresLookupSource(Database(stores.pool)))
            try await withReplica(stores, source: source, pageSize: 50) { replica in
                try await replica.waits(for: "found", of: "storm-500")
                source.hold()
                // A complete reading begins and stops after its first page.
                try await stores.pool.query("select pg_notify('grandstand_lookup', '1 events')")
                await source.isHeld()
                for number in stride(from: 1, through: 499, by: 2) {
                    try await stores.pool.query(
                        "update events set ended_at = now() where key = \("storm-\(number)")")
                }
                try await stores.pool.query("delete from events where key = 'storm-500'")
                try await replica.waits(for: "over", of: "storm-499")
                try await replica.waits(for: nil, of: "storm-500")
                #expect(source.isHolding)
                source.release()
                try await until("everything is read") {
                    try await stores.pool.query("select 1")
                    return replica.replica.state.withLock(\.backlog.isWhole)
                }
                var wrong: [Int] = []
                for number in 1...499 {
                    let expected = number % 2 == 1 ? "over" : "found"
                    if replica.kind("storm-\(number)") != expected { wrong.append(number) }
                }
                #expect(wrong == [])
                try await replica.waits(for: nil, of: "storm-500")
            }
        }
    }

    @Test func `keys use the same journal when they are created, revoked or deleted by hand`() async throws {
        try await withStores { stores in
            let keys = CachedKeyStore(stores.keys, now: { stores.now })
            let running = Task { await keys.run() }
            defer { running.cancel() }
            try await withReplica(stores, keys: keys) { _ in
                let (key, secret) = try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: nil)
                try await until("it is known") {
                    try await stores.pool.query("select 1")
                    return keys.known(secret)?.id == key.id
                }
                _ = try await stores.keys.revoke(key.id, by: .server, now: stores.now)
                try await until("it is not") {
                    try await stores.pool.query("select 1")
                    return keys.known(secret) == nil
                }
            }
        }
    }

    // MARK: Helpers

    private func withReplica(
        _ stores: Stores, source: (any LookupSource)? = nil, keys: CachedKeyStore? = nil, pageSize: Int = 2_000,
        _ body: (Watched) async throws -> Void
    ) async throws {
        var settings = LookupReplica.Settings()
        settings.pageSize = pageSize
        let replica = LookupReplica(
            source: source ?? PostgresLookupSource(Database(stores.pool)), keys: keys,
            settings: settings, now: { stores.now },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let running = Task { await replica.run() }
        do {
            try await body(Watched(replica: replica, pool: stores.pool))
        } catch {
            running.cancel()
            await running.value
            throw error
        }
        running.cancel()
        await running.value
    }
}

/// A replica. The test asks it for lookups of the app and the environment that all samples have.
private struct Watched: Sendable {
    let replica: LookupReplica
    let pool: PostgresPool

    private func answer(_ key: String) -> LookupAnswer? {
        EventKey(rawValue: key).flatMap { replica.known(topic: "com.example.goal", in: .production, $0)?.answer }
    }

    /// `found`, `pending`, `over`, `no such variant`, or `nil`.
    func kind(_ key: String) -> String? {
        switch answer(key) {
        case .found: "found"
        case .pending: "pending"
        case .over: "over"
        case .noSuchVariant: "no such variant"
        case nil: nil
        }
    }

    func text(_ key: String) -> String? {
        guard case .found(let body) = answer(key) else { return nil }
        return String(decoding: body.bytes, as: UTF8.self)
    }

    /// Waits until the cached answer is of this kind. Before each check there is a round trip to the database.
    func waits(for kind: String?, of key: String) async throws {
        try await until("\(key) is \(kind ?? "gone")") {
            try await pool.query("select 1")
            return self.kind(key) == kind
        }
    }
}

/// The real source. A test can suspend a complete reading after its first page.
private final class HeldSource: LookupSource {
    private struct State {
        var isHolding = false
        var waiting: CheckedContinuation<Void, Never>?
        var held: CheckedContinuation<Void, Never>?
        var isHeld = false
    }

    private let base: PostgresLookupSource
    private let state = Mutex(State())

    init(_ base: PostgresLookupSource) { self.base = base }

    var isHolding: Bool { state.withLock(\.isHolding) }

    func hold() { state.withLock { $0.isHolding = true } }

    /// Waits until the reading of a page is suspended.
    func isHeld() async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if !state.isHeld { state.held = continuation }
                return state.isHeld
            }
            if isHeld { continuation.resume() }
        }
    }

    func release() {
        let waiting = state.withLock { state in
            state.isHolding = false
            return state.waiting.take()
        }
        waiting?.resume()
    }

    func page(
        after: EventKey?, limit: Int
    ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) {
        if after != nil {
            await withCheckedContinuation { continuation in
                let (goesOn, held) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                    guard state.isHolding else { return (true, nil) }
                    state.waiting = continuation
                    state.isHeld = true
                    return (false, state.held.take())
                }
                if goesOn { continuation.resume() }
                held?.resume()
            }
        }
        return try await base.page(after: after, limit: limit)
    }

    func announcements() -> AsyncStream<LookupAnnouncement> { base.announcements() }
    func position() async throws -> LookupPosition { try await base.position() }
    func changes(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition) {
        try await base.changes(since: position)
    }
    func tidy() async throws { try await base.tidy() }
    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] { try await base.records(of: keys) }
}
