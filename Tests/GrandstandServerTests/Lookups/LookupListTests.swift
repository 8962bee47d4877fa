internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Lists for apps, compared with a model that filters and sorts all events for each question.
struct LookupListTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let app = LookupList.App(topic: "com.example.goal", environment: .production)

    /// The keys on all pages. Each page is requested with the cursor of the page before.
    private static func keys(_ list: LookupList, _ query: LookupListQuery) throws -> [String] {
        var query = query
        var keys: [String] = []
        repeat {
            let page = list.page(query, now: now)
            #expect(page.items.count <= query.limit)
            keys += page.items.map(\.eventKey)
            query.after = try page.nextCursor.map { text throws(Problem) in try PageCursor(text) }
        } while query.after != nil
        return keys
    }

    private static func model(_ events: [EventKey: [LookupRecord]], _ query: LookupListQuery) -> [String] {
        let found = events.compactMap { key, records -> (at: Double, key: String)? in
            guard
                let record = records.first(where: { $0.variant == query.variant })
                    ?? (query.variant == nil ? records.first { $0.endedAt == nil } : nil),
                record.endedAt == nil
            else { return nil }
            if let topic = query.topic, record.listing?.topics.contains(topic) != true { return nil }
            if query.from != nil || query.to != nil {
                guard let startsAt = record.startsAt, query.from.map({ startsAt >= $0 }) ?? true,
                    query.to.map({ startsAt < $0 }) ?? true
                else { return nil }
            }
            let isLive = record.state(now: now) == .live
            if let state = query.state, isLive != (state == .live) { return nil }
            return (record.startsAt?.timeIntervalSince1970 ?? .infinity, key.rawValue)
        }
        return found.sorted { ($0.at, $0.key) < ($1.at, $1.key) }.map(\.key)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a list has the events that match, in order`(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let topics = ["team:a", "team:b", "league:x"].compactMap { Topic(rawValue: $0) }
        let german = try #require(Variant(rawValue: "de"))
        let french = try #require(Variant(rawValue: "fr"))
        var events: [EventKey: [LookupRecord]] = [:]
        for number in 0..<60 {
            let key = try #require(EventKey(rawValue: "e\(number)"))
            let startsAt =
                Bool.random(using: &random)
                ? Self.now + Double(Int.random(in: -5...5, using: &random)) * 3_600.001 : nil
            let listing = LookupRecord.Listing(
                name: "Match", topics: topics.filter { _ in Bool.random(using: &random) })
            let firstUpdateAt = Bool.random(using: &random) ? Self.now - 60 : nil
            let variants: [Variant?] =
                [[nil], [german], [nil, german], [german, french], []].randomElement(using: &random) ?? []
            events[key] = variants.map { variant in
                LookupRecord(
                    topic: Self.app.topic, environment: .production, storagePolicy: .noMessageStored, channelID: "c",
                    startsAt: startsAt, firstUpdateAt: firstUpdateAt,
                    endedAt: Int.random(in: 0..<4, using: &random) == 0 ? Self.now : nil, variant: variant,
                    listing: listing)
            }
        }
        let list = LookupList(of: Self.app, events.compactMap { LookupList.Item($0, $1, of: Self.app) })
        for _ in 0..<200 {
            let query = LookupListQuery(
                topic: topics.randomElement(using: &random).flatMap { Bool.random(using: &random) ? $0 : nil },
                from: Bool.random(using: &random) ? Self.now - 7_200 : nil,
                to: Bool.random(using: &random) ? Self.now + 7_200 : nil,
                state: [nil, .live, .scheduled].randomElement(using: &random) ?? nil,
                variant: Bool.random(using: &random) ? german : nil,
                limit: Int.random(in: 1...7, using: &random))
            #expect(try Self.keys(list, query) == Self.model(events, query), "\(query)")
        }
        let other = LookupList.App(topic: "com.example.other", environment: .production)
        #expect(events.compactMap { LookupList.Item($0, $1, of: other) }.isEmpty)
    }
}
