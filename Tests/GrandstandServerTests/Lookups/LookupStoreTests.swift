internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct LookupTests {
    @Test func `the timestamp of the newest content is the one that phones get`() async throws {
        try await withStores { stores in
            try await stores.open()
            let first = try await stores.accept(.update(#"{"n": 1}"#))
            // The message is sent 30 seconds after its acceptance.
            stores.clock.advance(by: 30)
            let sent = try await stores.sendOne()
            #expect(try await stores.lookup()?.timestamp == sent.timestamp)
            #expect(try await stores.delivery(of: first).timestamp == sent.timestamp)
            // This message is accepted in the same second in which the first one was sent. Until it is sent, lookups
            // show the lowest timestamp that it can get.
            try await stores.accept(.update(#"{"n": 2}"#))
            #expect(try await stores.lookup()?.timestamp == (try sent.timestamp + 1))
            #expect(try await stores.sendOne().timestamp == (try sent.timestamp + 1))
            #expect(try await stores.lookup()?.timestamp == (try sent.timestamp + 1))
        }
    }
}

@Suite(.timeLimit(.minutes(20)))
struct LookupStoreTests {
    /// The subjects that the journal got during `body`, other than keys.
    private func noted(
        _ stores: StoreWorld, _ body: () async throws -> Void
    ) async throws -> Set<String> {
        let start = try await stores.lookups.changes(since: LookupStore.journalEnd).position
        try await body()
        _ = try await stores.key("end", [.lookup])
        let (subjects, end) = try await stores.lookups.changes(since: start)
        #expect(subjects.contains("keys"))
        #expect(try await stores.lookups.changes(since: end).subjects.isEmpty)
        return subjects.subtracting(["keys"])
    }

    @Test func `each refusal of a channel is in the journal, with the time of the next attempt`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await stores.pool.query(
                "update channels set state = 'failed', channel_id = null, reason = 'a', next_attempt_at = now()")
            let noted = try await noted(stores) {
                try await stores.pool.query("update channels set next_attempt_at = now() + interval '30 s'")
            }
            #expect(noted == ["event match-1"])
        }
    }

    /// For each value that an answer shows, a statement with which an operator could change it.
    @Test(arguments: [
        "update events set starts_at = now() where key = 'match-1'",
        "update events set name = 'x' where key = 'match-1'", "update events set kind = 'x' where key = 'match-1'",
        "update events set topics = array['team:a'] where key = 'match-1'",
        "update events set ends_at = now() where key = 'match-1'",
        "update events set first_update_at = now() where key = 'match-1'",
        "update events set ended_at = now() where key = 'match-1'",
        "update events set cancelled_at = now() where key = 'match-1'",
        "update events set channels_open_at = now() where key = 'match-1'",
        "delete from events where key = 'match-1'",
        "update audiences set storage_policy = 'noMessageStored' where event_key = 'match-1'",
        "delete from audiences where event_key = 'match-1'",
        "update channels set state = 'missing' where event_key = 'match-1'",
        "update channels set channel_id = 'another' where event_key = 'match-1'",
        "update audiences set channel = null", "update audiences set fenced_at = now()",
        "update audiences set event_key = null",
        "delete from channels where event_key = 'match-1'",
        "update channels set state = 'failed', channel_id = null, next_attempt_at = now() where event_key = 'match-1'",
        "truncate events cascade",
    ])
    func `every change of an answer is in the journal`(_ sql: String) async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            let subjects = try await noted(stores) { try await stores.pool.query(PostgresQuery(unsafeSQL: sql)) }
            #expect(subjects == [sql.hasPrefix("truncate") ? "events" : "event match-1"])
        }
    }

    @Test func `a transaction that began earlier and commits later is still found in the journal`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await stores.open("match-2")
            let source = stores.lookups
            let start = try await source.changes(since: LookupStore.journalEnd).position
            let (afterwards, second) = try await stores.pool.transaction { late in
                try await late.query("update events set ends_at = now() where key = 'match-1'")
                // A later transaction commits first.
                try await stores.pool.query("update events set ends_at = now() where key = 'match-2'")
                let (subjects, end) = try await source.changes(since: start)
                return (end, subjects)
            }
            #expect(second == ["event match-2"])
            let first = try await source.changes(since: afterwards).subjects
            #expect(first == ["event match-1"])
        }
    }

    @Test func `the journal forgets what is older than five minutes`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await stores.pool.query("update lookup_journal set at = now() - interval '301 seconds'")
            let old = try await stores.rows("lookup_journal")
            try await stores.pool.query("update events set ends_at = now()")
            let cutoff = Date().addingTimeInterval(-LookupStore.journalSeconds)
            #expect(try await stores.history.prune("lookup journal", before: cutoff, limit: 100) == old)
            #expect(try await stores.rows("lookup_journal") == 1)
        }
    }
}
