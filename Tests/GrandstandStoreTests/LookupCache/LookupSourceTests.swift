internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct LookupTests {
    @Test func `a lookup names the channel while it can be followed`() async throws {
        try await withStores { stores in
            let starts = stores.now + 60
            let ends = stores.now + 120
            try await stores.put(.sample(startsAt: starts, endsAt: ends))
            let pending = try #require(try await stores.lookup())
            #expect(
                pending
                    == LookupEntry(
                        eventKey: try .sample(), state: .scheduled, storagePolicy: .mostRecentMessageStored,
                        channelID: nil, startsAt: starts, endsAt: ends))
            try await stores.provision()
            let channel = try await stores.channel()
            #expect(try await stores.lookup()?.channelID == channel.channelID)
            try await stores.forceDeletion(of: channel)
            #expect(try await stores.lookup()?.channelID == nil)
            stores.clock.advance(by: 1)
            try await stores.provision()
            #expect(try await stores.lookup()?.channelID == (try await stores.channel()).channelID)
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
            #expect(try await stores.lookup(contentState: true)?.timestamp == sent.timestamp)
            #expect(try await stores.delivery(of: first).timestamp == sent.timestamp)
            // This message is accepted in the same second in which the first one was sent. Until it is sent, lookups
            // show the lowest timestamp that it can get.
            try await stores.accept(.update(#"{"n": 2}"#))
            #expect(try await stores.lookup(contentState: true)?.timestamp == (try sent.timestamp + 1))
            #expect(try await stores.sendOne().timestamp == (try sent.timestamp + 1))
            #expect(try await stores.lookup(contentState: true)?.timestamp == (try sent.timestamp + 1))
        }
    }

    @Test func `an audience that got its end has only its last content, and the other continues`()
        async throws
    {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            try await stores.accept(.update())
            try await stores.accept(.end(audiences: [audiences[0].id]))
            for contentState in [false, true] {
                let (ended, live) = (
                    try await stores.lookup(topic: "com.example.a", contentState: contentState),
                    try await stores.lookup(topic: "com.example.b", contentState: contentState)
                )
                guard case .over(let last) = ended.map({ LookupAnswer($0) }) else {
                    Issue.record("\(contentState)")
                    continue
                }
                #expect((last != nil) == contentState)
                #expect(live?.state == .live)
            }
        }
    }

    @Test func `another environment, app or event is not found`() async throws {
        try await withStores { stores in
            try await stores.open()
            let misses = [
                try await stores.lookup(in: .development), try await stores.lookup(topic: "com.example.other"),
                try await stores.lookup("match-2"), try await stores.lookup(topic: "com.example.Goal"),
            ]
            #expect(misses == [nil, nil, nil, nil])
        }
    }
}

@Suite(.timeLimit(.minutes(20)))
struct LookupSourceTests {
    @Test func `records have the same content as a lookup in the database, by event and by page`() async throws {
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
                let entry = try #require(
                    try await stores.events.lookup(
                        topic: record.topic, in: .production, key, contentState: false, now: stores.now))
                #expect(record.answer(of: key, now: stores.now) == LookupAnswer(entry))
            }
            var paged: [EventKey: [LookupRecord]] = [:]
            var after: EventKey?
            repeat {
                let page = try await source.page(after: after, limit: 2)
                #expect(page.records.count <= 2)
                paged.merge(page.records) { $1 }
                after = page.next
            } while after != nil
            #expect(paged == records)
        }
    }

    /// The changes that were announced during `body`. After `body` the test creates a key. The announcement of this
    /// change (`keys`) is the last one that the test reads.
    private func announced(
        _ stores: Stores, _ body: () async throws -> Void
    ) async throws -> Set<LookupChange.Subject> {
        let source = stores.lookups
        var announcements = source.announcements().makeAsyncIterator()
        let first = await announcements.next()
        #expect(first == .listening)
        let start = try await source.position()
        try await body()
        _ = try await stores.keys.create(name: "end", scopes: [.lookup], bundleID: nil)
        var heard: Set<LookupChange> = []
        while case .change(let change) = await announcements.next() {
            heard.insert(change)
            if change.subject == .keys { break }
        }
        // The journal contains the same changes as the announcements.
        let (changes, end) = try await source.changes(since: start)
        #expect(Set(changes) == heard)
        let rest = try await source.changes(since: end).changes
        #expect(rest == [])
        return Set(heard.map(\.subject)).subtracting([.keys])
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
    ])
    func `every change of an answer is announced and in the journal`(_ sql: String) async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            let subjects = try await announced(stores) { try await stores.pool.query(PostgresQuery(unsafeSQL: sql)) }
            #expect(subjects == [.event(try .sample("match-1"))])
        }
    }

    @Test(arguments: [
        "update events set metadata = '{}', updated_at = now()", "update events set starts_at = starts_at",
        "update lanes set due_at = now()", "update lanes set channel = channel, fenced_at = null",
        "update channels set attempts = 3, changed_at = now()",
    ])
    func `a change that no answer shows is not announced`(_ sql: String) async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            let subjects = try await announced(stores) { try await stores.pool.query(PostgresQuery(unsafeSQL: sql)) }
            #expect(subjects == [])
        }
    }

    @Test func `truncating a table announces that everything changed`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            let subjects = try await announced(stores) { try await stores.pool.query("truncate events cascade") }
            #expect(subjects == [.everything])
        }
    }

    @Test func `a channel without a place is announced at each attempt, with the reason`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample(channelLimit: 1, at: stores.now))
            try await stores.open("match-1")
            let source = stores.lookups
            let key = try EventKey.sample("match-2")
            func wait() async throws -> ChannelWait? {
                let record = try await source.records(of: [key])[key]?.first
                let entry = try await stores.events.lookup(
                    topic: "com.example.goal", in: .production, key, contentState: false, now: stores.now)
                #expect(record?.wait == entry?.wait)
                return record?.wait
            }
            try await stores.put(.sample("match-2"))
            #expect(try await wait() == ChannelWait())
            let refused = try await announced(stores) { try await stores.align() }
            #expect(refused == [.event(key)])
            let first = try #require(try await wait()?.refusal)
            #expect(first.reason == "quota-exhausted")
            #expect(first.nextAttemptAt > stores.now)
            stores.clock.advance(by: 31)
            let again = try await announced(stores) { try await stores.align() }
            #expect(again == [.event(key)])
            #expect(try #require(try await wait()?.refusal).nextAttemptAt > first.nextAttemptAt)
            // With a higher limit there is a place for another channel, and it is created.
            try await stores.apps.put(.sample(channelLimit: 2, at: stores.now))
            _ = try await announced(stores) { try await stores.provision() }
            #expect(try await wait() == ChannelWait())
        }
    }

    @Test func `a transaction that began earlier and commits later is still found in the journal`() async throws {
        try await withStores { stores in
            try await stores.open("match-1")
            try await stores.open("match-2")
            let source = stores.lookups
            let start = try await source.position()
            let (afterwards, second) = try await stores.pool.transaction { late in
                try await late.query("update events set ends_at = now() where key = 'match-1'")
                // A later transaction commits first.
                try await stores.pool.query("update events set ends_at = now() where key = 'match-2'")
                let (changes, end) = try await source.changes(since: start)
                return (end, changes.map(\.subject))
            }
            #expect(second == [.event(try .sample("match-2"))])
            let first = try await source.changes(since: afterwards).changes.map(\.subject)
            #expect(first == [.event(try .sample("match-1"))])
        }
    }

    @Test func `a change that was rolled back is neither announced nor in the journal`() async throws {
        struct Rollback: Error {}
        try await withStores { stores in
            try await stores.open("match-1")
            let subjects = try await announced(stores) {
                _ = try? await stores.pool.transaction { connection -> Void in
                    try await connection.query("update events set ends_at = now()")
                    throw Rollback()
                }
            }
            #expect(subjects == [])
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
