internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Lists for apps, compared with a model that filters and sorts all events for each question.
struct LookupIndexTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let topics = ["team:a", "team:b", "league:x"]

    private static func record(
        startsAt: Date?, topics: [Topic], variant: Variant? = nil, isOver: Bool = false, isLive: Bool = false
    ) -> LookupRecord {
        var record = LookupRecord(
            topic: "com.example.goal", environment: .production, storagePolicy: .noMessageStored, channelID: "c",
            startsAt: startsAt, firstUpdateAt: isLive ? now - 60 : nil, endedAt: isOver ? now : nil,
            listing: EventListing(name: "Match", topics: topics))
        record.variant = variant
        return record
    }

    /// The keys on all pages. Each page is requested with the cursor of the page before, as text.
    private static func keys(_ index: LookupIndex, _ query: LookupListQuery) throws -> [String] {
        var query = query
        var keys: [String] = []
        repeat {
            let part = index.part(query, now: now)
            #expect(part.items.count <= query.limit)
            keys += part.items.map(\.key.rawValue)
            query.after = try part.next.map { try #require(LookupIndex.Place(text: $0.text)) }
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
    func `after any change lists have the events in order`(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let topics = Self.topics.compactMap { Topic(rawValue: $0) }
        let german = try #require(Variant(rawValue: "de"))
        let french = try #require(Variant(rawValue: "fr"))
        var events: [EventKey: [LookupRecord]] = [:]
        var index = LookupIndex()
        for step in 0..<400 {
            let key = try #require(EventKey(rawValue: "e\(Int.random(in: 0..<60, using: &random))"))
            let startsAt =
                Bool.random(using: &random)
                ? Self.now + Double(Int.random(in: -5...5, using: &random)) * 3_600 : nil
            let own = topics.filter { _ in Bool.random(using: &random) }
            let isLive = Bool.random(using: &random)
            let variants: [Variant?] =
                [[nil], [german], [nil, german], [german, french], []].randomElement(using: &random) ?? []
            let records = variants.map { variant in
                Self.record(
                    startsAt: startsAt, topics: own, variant: variant,
                    isOver: Int.random(in: 0..<4, using: &random) == 0, isLive: isLive)
            }
            events[key] = records.isEmpty ? nil : records
            let before = (topics.map { index.version(of: $0) }, index)
            index.put(key, records)
            for (topic, version) in zip(topics, before.0) where index.version(of: topic) == version {
                // The version is the same, so the answer is the same.
                let query = LookupListQuery(topic: topic)
                #expect(try Self.keys(index, query) == Self.keys(before.1, query))
            }
            guard step % 20 == 0 else { continue }
            for _ in 0..<10 {
                let query = LookupListQuery(
                    topic: topics.randomElement(using: &random).flatMap { Bool.random(using: &random) ? $0 : nil },
                    from: Bool.random(using: &random) ? Self.now - 7_200 : nil,
                    to: Bool.random(using: &random) ? Self.now + 7_200 : nil,
                    state: [nil, .live, .scheduled].randomElement(using: &random) ?? nil,
                    variant: Bool.random(using: &random) ? german : nil,
                    limit: Int.random(in: 1...7, using: &random))
                let expected = Self.model(events, query)
                #expect(try Self.keys(index, query) == expected, "\(query)")
                #expect(try Self.keys(LookupIndex(events), query) == expected, "\(query)")
            }
        }
    }

    @Test func `a list has the time at which it changes by the clock alone`() throws {
        let key = try #require(EventKey(rawValue: "e"))
        var index = LookupIndex()
        #expect(index.part(LookupListQuery(), now: Self.now).changesAt == nil)
        index.put(key, [Self.record(startsAt: Self.now + 60, topics: [])])
        #expect(index.part(LookupListQuery(state: .live), now: Self.now).changesAt == Self.now + 60)
        #expect(index.part(LookupListQuery(state: .live), now: Self.now).items.isEmpty)
        let later = index.part(LookupListQuery(state: .live), now: Self.now + 60)
        #expect(later.items.count == 1)
        #expect(later.changesAt == nil)
    }

    @Test(arguments: ["", "x", "1.", ".e", "1.a b", "9221120237041090560.e", "18446744073709551616.e"])
    func `text that is not a cursor is refused`(text: String) {
        #expect(LookupIndex.Place(text: text) == nil)
    }
}
