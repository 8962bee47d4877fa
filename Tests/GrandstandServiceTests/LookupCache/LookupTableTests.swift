internal import APNsWire
internal import FoundationEssentials
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandService

struct LookupTableTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func record(
        _ topic: String = "com.example.goal", _ environment: APNsEnvironment = .production, channelID: String? = "abc=",
        startsAt: Date? = nil, firstUpdateAt: Date? = nil, endedAt: Date? = nil, cancelledAt: Date? = nil
    ) -> LookupRecord {
        LookupRecord(
            topic: topic, environment: environment, storagePolicy: .noMessageStored, channelID: channelID,
            startsAt: startsAt, firstUpdateAt: firstUpdateAt, endedAt: endedAt, cancelledAt: cancelledAt)
    }

    private func table(_ records: LookupRecord...) throws -> LookupTable {
        let table = LookupTable()
        let key = try #require(EventKey(rawValue: "derby"))
        table.replace(key, with: LookupBlock(key, records))
        return table
    }

    private func ask(
        _ table: LookupTable, _ bundleID: String = "com.example.goal",
        _ environment: APNsEnvironment = .production, key: String = "derby", at now: Date? = nil
    ) -> LookupAnswer? {
        Array(bundleID.utf8).withUnsafeBytes { bundleID in
            Array(key.utf8).withUnsafeBytes { key in
                table.answer(bundleID: bundleID, environment: environment, key: key, now: now ?? self.now)
            }
        }
    }

    private func text(_ answer: LookupAnswer?) -> String? {
        guard case .found(let body) = answer else { return nil }
        return String(decoding: body.bytes, as: UTF8.self)
    }

    @Test func `the body is the interface's, byte for byte, and the tag is of its bytes`() throws {
        let answer = ask(try table(record(firstUpdateAt: now)))
        #expect(
            text(answer)
                == #"{"eventKey":"derby","channelId":"abc=","storagePolicy":"noMessageStored","state":"live","#
                + #""startsAt":null,"endsAt":null}"#)
        guard case .found(let body) = answer else { return }
        #expect(body.tag == EntityTag(of: body.bytes))
        #expect(body.count == body.bytes.count)
    }

    @Test(arguments: [nil, -60, 60] as [Double?], [false, true])
    func `memory's bytes and tag are those that the database's entry gives`(_ start: Double?, _ isUpdated: Bool) throws
    {
        let key = try #require(EventKey(rawValue: "derby"))
        var record = record(
            startsAt: start.map { now.addingTimeInterval($0) }, firstUpdateAt: isUpdated ? now : nil)
        record.endsAt = now.addingTimeInterval(7_200)
        let state = Event.State(
            startsAt: record.startsAt, firstUpdateAt: record.firstUpdateAt, endedAt: nil, cancelledAt: nil, now: now)
        let expected = LookupAnswer(record.entry(for: key, state: state))
        let answer = ask(try table(record))
        #expect(answer == expected)
    }

    @Test func `a block has no room to spare: two tables of them must fit into memory`() throws {
        let block = LookupBlock(try #require(EventKey(rawValue: "derby")), [record(), record("com.example.other")])
        #expect(block.bytes.capacity < block.bytes.count + 32)
    }

    @Test func `pending without a channel, over when ended or cancelled, whatever the channel is`() throws {
        let pending = ask(try table(record(channelID: nil)))
        #expect(pending == .pending)
        let ended = ask(try table(record(endedAt: now)))
        #expect(ended == .over)
        let cancelled = ask(try table(record(channelID: nil, cancelledAt: now)))
        #expect(cancelled == .over)
    }

    @Test func `apps and environments of one event are told apart, capitals are not`() throws {
        let table = try table(
            record(channelID: nil), record("com.example.long", .production, channelID: "three"),
            record("com.example.other", .development, channelID: "two"))
        #expect(ask(table) == .pending)
        #expect(text(ask(table, "com.example.other", .development))?.contains("\"two\"") == true)
        #expect(text(ask(table, "com.Example.LONG"))?.contains("\"three\"") == true)
        #expect(ask(table, "com.example.other") == nil)
        #expect(ask(table, "com.example.none") == nil)
        #expect(ask(table, "com.example.long\u{0}") == nil)
        #expect(ask(table, key: "cup") == nil)
        #expect(ask(table, key: "") == nil)
    }

    @Test func `an event becomes live at its start, with another tag, and stays so`() throws {
        let start = now.addingTimeInterval(60)
        let table = try table(record(startsAt: start))
        let before = ask(table)
        #expect(ask(table, at: start.addingTimeInterval(-0.001)) == before)
        #expect(text(before)?.contains("scheduled") == true)
        let after = ask(table, at: start)
        #expect(text(after)?.contains("live") == true)
        #expect(after != before)
        #expect(ask(table, at: start.addingTimeInterval(1)) == after)
    }

    @Test func `ten thousand events come, change and go, as in a dictionary`() throws {
        var generator = SplitMix(state: 42)
        let table = LookupTable(seed: 7)
        var model: [String: String] = [:]
        for step in 0..<30_000 {
            let name = "event-\(Int.random(in: 0..<10_000, using: &generator))"
            let key = try #require(EventKey(rawValue: name))
            let goes = Int.random(in: 0..<3, using: &generator) == 0
            table.replace(key, with: goes ? nil : LookupBlock(key, [record(channelID: "channel-\(step)")]))
            model[name] = goes ? nil : "\"channel-\(step)\""
        }
        #expect(table.count == model.count)
        var wrong: [String] = []
        for number in 0..<10_000 {
            let name = "event-\(number)"
            let said = text(ask(table, key: name))
            if model[name] == nil ? said != nil : said?.contains(model[name] ?? "-") != true { wrong.append(name) }
        }
        #expect(wrong == [])
    }

    @Test(arguments: [("TAG", true), ("\"x\", TAG", true), ("W/TAG", true), ("*", true), ("\"x\"", false), ("", false)])
    func `If-None-Match names the tag strongly, weakly, in a list, or as anything`(_ header: String, _ matches: Bool) {
        let tag = EntityTag(of: Array("body".utf8))
        #expect(tag.matches(header.replacing("TAG", with: tag.text)) == matches)
        #expect(tag != EntityTag(of: Array("bodz".utf8)))
    }

    @Test func `a name is asked for once a second, all names together as often as the budget says`() {
        var questions = RecentQuestions<String>(keep: 1, perSecond: 2, capacity: 2, now: now)
        let asked = [("a", 0), ("a", 0.9), ("b", 0.9), ("c", 0.9), ("d", 0.9), ("a", 3)].map { name, seconds in
            questions.mayAsk(name, now: now.addingTimeInterval(seconds))
        }
        #expect(asked == [true, false, true, true, false, true])
    }
}

/// Sebastiano Vigna's generator: the same numbers in every run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
