internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct LookupTests {
    @Test func `a lookup names the channel while it can be followed`() async throws {
        try await withStores { stores in
            let (starts, ends) = (stores.now + 60, stores.now + 120)
            try await stores.put(.sample(startsAt: starts, endsAt: ends))
            #expect(
                try await stores.lookup()
                    == Contract.Lookup(
                        eventKey: "match-1", storagePolicy: .mostRecentMessageStored, state: .scheduled,
                        startsAt: starts, endsAt: ends))
            try await stores.provision()
            let channel = try await stores.channel()
            #expect(try await stores.lookup()?.channelId == channel.channelID)
            try await stores.forceDeletion(of: channel)
            #expect(try await stores.lookup()?.channelId == nil)
            try await stores.accept(.end())
            #expect(try await stores.lookup()?.state == .ended)
        }
    }

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
    @Test func `records have the same content as a lookup in the database`() async throws {
        try await withStores { stores in
            let source = stores.lookups
            try await stores.open("match-1")
            try await stores.open("match-2")
            try await stores.put(.sample("match-3"))
            try await stores.accept(.end(), for: "match-2")
            let keys = try ["match-1", "match-2", "match-3", "match-4"].map { try EventKey.sample($0) }
            let records = try await source.records(of: keys)
            #expect(records.count == 3)
            for key in keys.dropLast() {
                let record = try #require(records[key]?.first)
                #expect(record.topic == "com.example.goal")
                var lookup = try #require(try await stores.lookup(key.rawValue))
                // Contents are not kept in memory.
                (lookup.contentState, lookup.timestamp) = (nil, nil)
                #expect(record.lookup(of: key, now: stores.now) == lookup)
            }
            #expect(try await source.keys(after: nil, limit: 2) == Array(keys.prefix(2)))
            #expect(try await source.keys(after: keys[1], limit: 2) == [keys[2]])
        }
    }

    /// The subjects that the journal got during `body`, other than keys.
    private func noted(
        _ stores: StoreWorld, _ body: () async throws -> Void
    ) async throws -> Set<LookupStore.Subject> {
        let start = try await stores.lookups.changes(since: LookupStore.newest).position
        try await body()
        _ = try await stores.key("end", [.lookup])
        let (subjects, end) = try await stores.lookups.changes(since: start)
        #expect(subjects.contains(.keys))
        #expect(try await stores.lookups.changes(since: end).subjects.isEmpty)
        return subjects.subtracting([.keys])
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
        "delete from events where key = 'match-1'",
        "update audiences set storage_policy = 'mostRecentMessageStored' where event_key = 'match-1'",
        "delete from audiences where event_key = 'match-1'",
        "update channels set state = 'missing' where event_key = 'match-1'",
        "update channels set channel_id = 'another' where event_key = 'match-1'",
        "update lanes set channel = null", "update lanes set fenced_at = now()",
        "delete from channels where event_key = 'match-1'",
        "update channels set state = 'failed', channel_id = null, next_attempt_at = now() where event_key = 'match-1'",
        "truncate events cascade",
    ])
    func `every change of an answer is in the journal`(_ sql: String) async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            let subjects = try await noted(stores) { try await stores.pool.query(PostgresQuery(unsafeSQL: sql)) }
            #expect(subjects == [sql.hasPrefix("truncate") ? .everything : .event(try .sample("match-1"))])
        }
    }

    @Test(arguments: [
        "update events set metadata = '{}', updated_at = now()", "update events set starts_at = starts_at",
        "update lanes set due_at = now()", "update lanes set channel = channel, fenced_at = null",
        "update channels set attempts = 3, changed_at = now()",
    ])
    func `a change that no answer shows is not in the journal`(_ sql: String) async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            let subjects = try await noted(stores) { try await stores.pool.query(PostgresQuery(unsafeSQL: sql)) }
            #expect(subjects == [])
        }
    }

    @Test func `a channel without a place is in the journal at each attempt, with the reason`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample(channelLimit: 1, at: stores.now))
            try await stores.open("match-1")
            let source = stores.lookups
            let key = try EventKey.sample("match-2")
            func wait() async throws -> ChannelWait? {
                let record = try await source.records(of: [key])[key]?.first
                let name = LookupName(topic: "com.example.goal", environment: .production, key: key)
                #expect(try await source.lookups(of: [name], now: stores.now)[name]?.wait == record?.wait)
                return record?.wait
            }
            try await stores.put(.sample("match-2"))
            #expect(try await wait() == ChannelWait())
            let refused = try await noted(stores) { try await stores.align() }
            #expect(refused == [.event(key)])
            let first = try #require(try await wait())
            #expect(first.reason == "quota-exhausted")
            let next = try #require(first.nextAttemptAt)
            #expect(next > stores.now)
            stores.clock.advance(by: 31)
            let again = try await noted(stores) { try await stores.align() }
            #expect(again == [.event(key)])
            #expect(try await wait()?.nextAttemptAt ?? next > next)
            // With a higher limit there is a place for another channel, and it is created.
            try await stores.apps.put(.sample(channelLimit: 2, at: stores.now))
            _ = try await noted(stores) { try await stores.provision() }
            #expect(try await wait() == ChannelWait())
        }
    }

    @Test func `a transaction that began earlier and commits later is still found in the journal`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await stores.open("match-2")
            let source = stores.lookups
            let start = try await source.changes(since: LookupStore.newest).position
            let (afterwards, second) = try await stores.pool.transaction { late in
                try await late.query("update events set ends_at = now() where key = 'match-1'")
                // A later transaction commits first.
                try await stores.pool.query("update events set ends_at = now() where key = 'match-2'")
                let (subjects, end) = try await source.changes(since: start)
                return (end, subjects)
            }
            #expect(second == [.event(try .sample("match-2"))])
            let first = try await source.changes(since: afterwards).subjects
            #expect(first == [.event(try .sample("match-1"))])
        }
    }

    @Test func `the journal forgets what is older than five minutes`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await stores.pool.query("update lookup_journal set at = now() - interval '301 seconds'")
            try await stores.pool.query("update events set ends_at = now()")
            try await stores.lookups.tidy()
            let left = try await stores.count("select count(*)::int as n from lookup_journal")
            #expect(left == 1)
        }
    }
}
