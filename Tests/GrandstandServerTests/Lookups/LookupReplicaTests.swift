internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import JSON
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// A replica's memory while nobody keeps it up to date and the database is away.
struct LookupReplicaTests {
    private static let topic = "com.example.goal"
    private let clock = ManualClock()

    private func replica(patience: Duration = .milliseconds(1)) -> LookupReplica {
        var settings = LookupReplica.Settings()
        settings.patience = patience
        return LookupReplica(
            store: LookupStore(database: TestDatabase.away.database), settings: settings, now: { [clock] in clock.now },
            logger: LoopSample.logger)
    }

    private func name(_ key: String = "derby") throws -> LookupName {
        LookupName(topic: Self.topic, environment: .production, key: try .sample(key))
    }

    private func record(_ channelID: String?, topic: String = topic, _ environment: APNsEnvironment = .production)
        -> LookupRecord
    {
        LookupRecord(
            topic: topic, environment: environment, storagePolicy: .noMessageStored, channelID: channelID)
    }

    @Test(arguments: ["two", nil])
    func `an event that changes while everything is being read keeps its newer answer`(_ newer: String?) throws {
        let replica = replica()
        let name = try name()
        let round = replica.state.withLock { state in
            state.readMeanwhile = [:]
            state.backlog.beginReading(at: LookupPosition(text: "", floor: 0))
            return state.backlog.take()
        }
        replica.put(name.key, newer.map { [record($0)] } ?? [], in: round)
        replica.replace(with: [name.key: [record("one")]], readAt: clock.now)
        #expect(replica.known(name)?.answer.lookup?.channelId == newer)
        let isAside = replica.state.withLock { $0.readMeanwhile != nil }
        #expect(!isAside)
    }

    @Test func `apps and environments of one event are kept apart`() throws {
        let (one, other) = ("com.example.goal", "com.example.other")
        let all: [(topic: String, environment: APNsEnvironment, channelID: String?)] = [
            (one, .production, "a"), (one, .development, "b"), (other, .production, "c"),
        ]
        let records = all.map { record($0.channelID, topic: $0.topic, $0.environment) }
        for (topic, environment, channelID) in all + [(other, .development, nil)] {
            let name = LookupName(topic: topic, environment: environment, key: try .sample("derby"))
            #expect(records.answer(to: name, now: clock.now)?.lookup?.channelId == channelID)
        }
    }

    @Test
    func
        `while the database is down known events are answered with their age for a limited time, and unknown ones are not`()
        async throws
    {
        let replica = replica()
        let name = try name()
        replica.replace(with: [name.key: [record("one")]], readAt: clock.now)
        #expect(replica.known(name)?.freshness == .confirmed)
        clock.advance(by: 30)
        #expect(replica.known(name)?.freshness == .stale(seconds: 30))
        try await refuses(.storeUnavailable) { try await replica.answer(to: self.name("cup")) }
        clock.advance(by: 571)
        #expect(replica.known(name) == nil)
    }

    @Test func `if the database cannot be read since a change, the older answer is marked as stale`() async throws {
        let replica = replica()
        let name = try name()
        replica.replace(with: [name.key: [record("one")]], readAt: clock.now)
        replica.changed([.event(name.key), .event(try .sample("cup"))])
        #expect(replica.known(name) == nil)
        let old = try await replica.answer(to: name)
        #expect(old.answer?.lookup?.channelId == "one")
        #expect(old.freshness != .confirmed)
        try await refuses(.storeUnavailable) { try await replica.answer(to: self.name("cup")) }
        let another = try EventKey.sample("another")
        #expect(await replica.isRead(another))
    }

    @Test func `a caller waits until this process's change of the event was read`() async throws {
        let replica = replica(patience: .seconds(600))
        let name = try name()
        replica.replace(with: [name.key: [record("one")]], readAt: clock.now)
        replica.changed([.event(name.key)])
        async let isRead = replica.isRead(name.key)
        try await until("the caller waits") { replica.state.withLock { !$0.waiting.isEmpty } }
        let round = replica.state.withLock { $0.backlog.take() }
        replica.put(name.key, [record("two")], in: round)
        replica.release(round)
        let wasRead = await isRead
        #expect(wasRead)
        #expect(replica.known(name)?.answer.lookup?.channelId == "two")
    }
}

extension LookupAnswer {
    /// The body of an answer that was found.
    var lookup: Contract.Lookup? {
        guard case .found(let body) = self else { return nil }
        return try? JSONValue(decoding: body.bytes).decode(Contract.Lookup.self)
    }
}

/// Cached bodies of lists. They are valid until something in them changes.
struct LookupListsTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let app = LookupLists.App(topic: "com.example.goal", environment: .production)

    private static func record(_ channelID: String, topic: String, startsAt: Date? = nil) throws -> LookupRecord {
        LookupRecord(
            topic: app.topic, environment: app.environment, storagePolicy: .noMessageStored, channelID: channelID,
            startsAt: startsAt, listing: EventListing(name: "Match", topics: [try #require(Topic(rawValue: topic))]))
    }

    private static func key(_ text: String) throws -> EventKey { try #require(EventKey(rawValue: text)) }

    private static func text(_ body: LookupBody?) -> String? { body.map { String(decoding: $0.bytes, as: UTF8.self) } }

    @Test func `a body is reused until something in it has changed`() throws {
        let lists = LookupLists()
        lists.put(try Self.key("derby"), [try Self.record("one", topic: "team:a")])
        let query = LookupListQuery(topic: Topic(rawValue: "team:a"))
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now) == nil)
        let body = lists.body("a", Self.app, query, lastOwnChange: 0, now: Self.now)
        #expect(
            Self.text(body)
                == #"{"items":[{"eventKey":"derby","channelId":"one","storagePolicy":"noMessageStored","state":"scheduled","#
                + #""startsAt":null,"endsAt":null,"name":"Match","kind":null,"topics":["team:a"]}],"nextCursor":null}"#)
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now) == body)
        // A change in another topic or app does not affect the body. After a change by this process in the same topic
        // the body is made again.
        lists.put(try Self.key("final"), [try Self.record("two", topic: "team:b")])
        #expect(lists.known("a", lastOwnChange: 1, now: Self.now) == body)
        lists.put(try Self.key("derby"), [try Self.record("three", topic: "team:a")])
        #expect(lists.known("a", lastOwnChange: 1, now: Self.now) == nil)
        let newer = lists.body("a", Self.app, query, lastOwnChange: 1, now: Self.now)
        #expect(Self.text(newer)?.contains("three") == true)
        lists.put(try Self.key("derby"), [])
        let empty = lists.body("a", Self.app, query, lastOwnChange: 2, now: Self.now)
        #expect(Self.text(empty) == #"{"items":[],"nextCursor":null}"#)
    }

    @Test func `a change takes no longer if an app has many events`() throws {
        let shuffled = try (0..<20_000).map { try Self.key("match-\($0)") }
        func timeOfChanges(among count: Int) throws -> Duration {
            var indexes = LookupLists.indexes(
                of: Dictionary(
                    uniqueKeysWithValues: try shuffled.prefix(count).map {
                        ($0, [try Self.record("one", topic: "team:a")])
                    }))
            let changed = [try Self.record("two", topic: "team:a")]
            let before = [try Self.record("one", topic: "team:a")]
            return processorTime {
                for round in 0..<200 {
                    LookupLists.put(shuffled[0], round % 2 == 0 ? changed : before, into: &indexes)
                }
            }
        }
        // Copying 20,000 entries at each change would take a thousand times as long.
        #expect(try timeOfChanges(among: 20_000) < timeOfChanges(among: 10) * 100)
    }

    @Test func `a body also changes with the clock`() throws {
        let lists = LookupLists()
        lists.put(try Self.key("derby"), [try Self.record("one", topic: "team:a", startsAt: Self.now + 60)])
        let body = lists.body("a", Self.app, LookupListQuery(), lastOwnChange: 0, now: Self.now)
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now + 59) == body)
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now + 60) == nil)
        let live = lists.body("a", Self.app, LookupListQuery(), lastOwnChange: 0, now: Self.now + 60)
        #expect(Self.text(live)?.contains(#""state":"live""#) == true)
    }

    @Test func `after a reading of everything the result replaces everything that was known`() throws {
        let lists = LookupLists()
        lists.put(try Self.key("derby"), [try Self.record("one", topic: "team:a")])
        _ = lists.body("a", Self.app, LookupListQuery(), lastOwnChange: 0, now: Self.now)
        lists.replace(with: LookupLists.indexes(of: [try Self.key("final"): [try Self.record("two", topic: "team:a")]]))
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now) == nil)
        let body = lists.body("a", Self.app, LookupListQuery(), lastOwnChange: 0, now: Self.now)
        #expect(Self.text(body)?.contains("derby") == false)
        #expect(Self.text(body)?.contains("final") == true)
    }
}
