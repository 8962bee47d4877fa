internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandService

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
