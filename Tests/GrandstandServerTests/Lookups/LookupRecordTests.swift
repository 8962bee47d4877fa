internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import Grandstand

struct LookupRecordTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func record(
        channelID: String? = "abc=", startsAt: Date? = nil, endedAt: Date? = nil, cancelledAt: Date? = nil
    ) -> LookupRecord {
        LookupRecord(
            key: name.key, apnsTopic: "com.example.goal", environment: .production, storagePolicy: .noMessageStored,
            channelID: channelID, startsAt: startsAt, endedAt: endedAt, cancelledAt: cancelledAt)
    }

    private let name = LookupKey(app: Sample.known(try? .sample()), key: Sample.known(EventKey(rawValue: "derby")))
    private func ask(_ record: LookupRecord, at time: Date? = nil) -> (text: String?, problem: Problem?) {
        var entry = LookupEvent([record])
        switch entry.answer(to: name, now: time ?? now) {
        case .success(let body): return (String(decoding: body.bytes, as: UTF8.self), nil)
        case .failure(let problem): return (nil, problem)
        }
    }

    @Test func `an answer is pending without a channel, and over after an end or a cancellation`() throws {
        let pending = try #require(ask(record(channelID: nil)).problem)
        #expect((pending.kind, pending.maxAge) == (.channelPending, 2))
        for record in [record(endedAt: now), record(channelID: nil, cancelledAt: now)] {
            let over = try #require(ask(record).problem)
            #expect((over.kind, over.status, over.maxAge) == (.eventEnded, 410, 10))
        }
        #expect((name.notFound().kind, name.notFound().maxAge) == (.eventNotFound, 5))
    }

    @Test func `a channel that opens later is looked up again at that time, or in an hour`() throws {
        for (seconds, patience) in [(-1.0, 2), (0.5, 2), (2.5, 3), (3_599.2, 3_600), (1e9, 3_600)] {
            var record = record(channelID: nil)
            record.opensAt = now.addingTimeInterval(seconds)
            #expect(ask(record).problem?.retryAfter == patience, "\(seconds)")
        }
        #expect(ask(record(channelID: nil)).problem?.retryAfter == 2)
    }

    @Test func `a failed creation has its reason, until its next attempt`() throws {
        var record = record(channelID: nil)
        (record.nextAttemptAt, record.reason) = (now.addingTimeInterval(29.5), "InvalidToken")
        let problem = try #require(ask(record).problem)
        #expect(problem.retryAfter == 30 && problem.detail.contains("could not be made (InvalidToken)"))
        #expect(ask(record, at: now.addingTimeInterval(29.5)).problem == ask(self.record(channelID: nil)).problem)
    }

    /// The variants of the audiences in their order (in brackets if the audience is over), the requested variant, and
    /// the result.
    @Test(
        arguments: [
            (["", "de"], nil, ""), (["de", ""], nil, ""), (["de", "fr"], nil, "de"), (["(de)", "fr"], nil, "fr"),
            (["(de)", "(fr)"], nil, "(de)"), (["(de)", "()"], nil, "()"), (["de", "()"], nil, "()"),
            (["(de)", "fr"], "de", "(de)"), (["de", "fr"], "it", "de, fr"), ([], nil, nil),
            (["", "de"], "it", "de"),
        ] as [([String], String?, String?)])
    func `without a variant the audience without one is found, or else the first that is not over`(
        _ audiences: [String], _ asked: String?, _ expected: String?
    ) throws {
        let records = audiences.map { text in
            let isOver = text.hasPrefix("(")
            var record = record(endedAt: isOver ? now : nil)
            record.variant = Variant(rawValue: isOver ? String(text.dropFirst().dropLast()) : text)
            return record
        }
        var (other, development) = (record(), record())
        other.apnsTopic = "com.example.other"
        development.environment = .development
        let name = LookupKey(app: name.app, key: name.key, variant: asked.flatMap { Variant(rawValue: $0) })
        var entry = LookupEvent([other, development] + records)
        let answer = entry.answer(to: name, now: now)
        let found: String? =
            switch answer {
            case .success(let body): body.lookup?.variant ?? ""
            case .failure(let problem) where problem.kind == .eventEnded:
                "(\(entry.record(of: name)?.variant?.rawValue ?? ""))"
            case .failure(let problem): problem.variants?.joined(separator: ", ")
            }
        #expect(found == expected)
    }

    @Test func `an audience with delivery by token is found without a channel`() throws {
        for channelID in [nil, "abc="] {
            var record = record(channelID: channelID)
            record.delivery = .tokens
            #expect(
                ask(record).text
                    == #"{"eventKey":"derby","channelId":null,"delivery":"tokens","storagePolicy":"noMessageStored","#
                    + #""state":"scheduled","startsAt":null,"endsAt":null}"#)
            record.endedAt = now
            #expect(ask(record).problem?.kind == .eventEnded)
        }
    }

    @Test func `an event becomes live at its start, gets another tag, and stays live`() throws {
        let start = now.addingTimeInterval(60)
        var entry = LookupEvent([record(startsAt: start)])
        let before = entry.answer(to: name, now: start.addingTimeInterval(-0.001))
        #expect(try before.get().lookup?.state == .scheduled)
        let after = entry.answer(to: name, now: start)
        #expect(try after.get().lookup?.state == .live)
        #expect(try before.get().tag != after.get().tag)
        #expect(entry.answer(to: name, now: start.addingTimeInterval(1)) == after)
    }

    @Test(arguments: [("TAG", true), ("\"x\", TAG", true), ("W/TAG", true), ("*", true), ("\"x\"", false), ("", false)])
    func `If-None-Match may have the tag strong, weak, in a list, or as *`(_ header: String, _ matches: Bool) {
        let tag = EntityTag(of: Array("body".utf8))
        #expect(tag.matches(header.replacing("TAG", with: tag.text)) == matches)
        #expect(tag != EntityTag(of: Array("bodz".utf8)))
    }
}

/// Lists for apps, compared with a model that filters and sorts all events for each question.
struct LookupListTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let app: AppEnvironment = Sample.known(try? .sample())

    /// The keys on all pages. Each page is requested with the cursor of the page before.
    private static func keys(_ events: [EventKey: [LookupRecord]], _ query: LookupListQuery) throws -> [String] {
        var query = query
        var keys: [String] = []
        repeat {
            let page = query.page(of: Array(events.values), for: app, now: now)
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
            if let topic = query.topic, !record.topics.contains(topic) { return nil }
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
        let topics = ["team:a", "team:b", "league:x"]
        let german = try #require(Variant(rawValue: "de"))
        let french = try #require(Variant(rawValue: "fr"))
        var events: [EventKey: [LookupRecord]] = [:]
        for number in 0..<60 {
            let key = try #require(EventKey(rawValue: "e\(number)"))
            let startsAt =
                Bool.random(using: &random)
                ? Self.now + Double(Int.random(in: -5...5, using: &random)) * 3_600.001 : nil
            let followed = topics.filter { _ in Bool.random(using: &random) }
            let firstUpdateAt = Bool.random(using: &random) ? Self.now - 60 : nil
            let variants: [Variant?] =
                [[nil], [german], [nil, german], [german, french], []].randomElement(using: &random) ?? []
            events[key] = variants.map { variant in
                LookupRecord(
                    key: key, apnsTopic: Self.app.bundleID.topic, environment: .production,
                    storagePolicy: .noMessageStored,
                    channelID: "c", startsAt: startsAt, firstUpdateAt: firstUpdateAt,
                    endedAt: Int.random(in: 0..<4, using: &random) == 0 ? Self.now : nil, variant: variant,
                    name: "Match", topics: followed)
            }
        }
        for _ in 0..<200 {
            let query = LookupListQuery(
                topic: topics.randomElement(using: &random).flatMap { Bool.random(using: &random) ? $0 : nil },
                from: Bool.random(using: &random) ? Self.now - 7_200 : nil,
                to: Bool.random(using: &random) ? Self.now + 7_200 : nil,
                state: [nil, .live, .scheduled].randomElement(using: &random) ?? nil,
                variant: Bool.random(using: &random) ? german : nil,
                limit: Int.random(in: 1...7, using: &random))
            #expect(try Self.keys(events, query) == Self.model(events, query), "\(query)")
        }
        let other = LookupListQuery().page(
            of: Array(events.values), for: try .sample("com.example.Other"), now: Self.now)
        #expect(other.items.isEmpty)
    }
}
