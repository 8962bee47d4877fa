internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

struct LookupRecordTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func record(
        channelID: String? = "abc=", startsAt: Date? = nil, firstUpdateAt: Date? = nil, endedAt: Date? = nil,
        cancelledAt: Date? = nil
    ) -> LookupRecord {
        LookupRecord(
            topic: "com.example.goal", environment: .production, storagePolicy: .noMessageStored, channelID: channelID,
            startsAt: startsAt, firstUpdateAt: firstUpdateAt, endedAt: endedAt, cancelledAt: cancelledAt)
    }

    private let name = LookupName(
        topic: "com.example.goal", environment: .production, key: Sample.known(EventKey(rawValue: "derby")))

    private func ask(_ record: LookupRecord) -> LookupAnswer? {
        var entry = LookupEntry([record])
        return entry.answer(to: name, now: now)
    }

    private func text(_ answer: LookupAnswer?) -> String? {
        guard case .found(let body) = answer else { return nil }
        return String(decoding: body.bytes, as: UTF8.self)
    }

    @Test func `an answer is pending without a channel, and over after an end or a cancellation`() throws {
        #expect(ask(record(channelID: nil)) == .pending(ChannelWait()))
        #expect(ask(record(endedAt: now)) == .over())
        #expect(ask(record(channelID: nil, cancelledAt: now)) == .over())
    }

    @Test func `a channel that opens later is looked up again at that time, or in an hour`() throws {
        for (seconds, patience) in [(-1.0, 2), (0.5, 2), (2.5, 3), (3_599.2, 3_600), (1e9, 3_600)] {
            var record = record(channelID: nil)
            record.wait.opensAt = now.addingTimeInterval(seconds)
            #expect(ask(record) == .pending(record.wait))
            #expect(record.wait.retryAfter(now) == patience, "\(seconds)")
        }
        #expect(ChannelWait().retryAfter(now) == 2)
    }

    @Test(arguments: [
        ("quota-exhausted", "the app has no channel left"),
        ("CannotCreateChannelConfig", "APNs has no channel left for the app"),
        ("BroadcastFeatureNotEnabled", "capability is off for the app"), ("InvalidToken", "refused it (InvalidToken)"),
        (nil, "APNs refused it."),
    ])
    func `a failed creation has its reason and the time of the next attempt`(
        _ reason: String?, _ words: String
    ) throws {
        let key = try #require(EventKey(rawValue: "derby"))
        let wait = ChannelWait(nextAttemptAt: now.addingTimeInterval(29.5), reason: reason)
        #expect(wait.retryAfter(now) == 30)
        let detail = wait.detail(of: key, now)
        #expect(detail.contains("derby could not be made: ") && detail.contains(words), "\(detail)")
        #expect(detail.contains("2023-11-14T22:13:49.500Z"), "\(detail)")
        let later = now.addingTimeInterval(29.5)
        #expect(wait.retryAfter(later) == 2)
        #expect(wait.detail(of: key, later) == ChannelWait().detail(of: key, later))
    }

    /// The variants of the audiences in their order (in brackets if the audience is over), the requested variant, and
    /// the result.
    @Test(
        arguments: [
            (["", "de"], nil, ""), (["de", ""], nil, ""), (["de", "fr"], nil, "de"), (["(de)", "fr"], nil, "fr"),
            (["(de)", "(fr)"], nil, "(de)"), (["(de)", "()"], nil, "()"), (["de", "()"], nil, "()"),
            (["(de)", "fr"], "de", "(de)"), (["de", "fr"], "it", "de, fr"), (["", "de"], "it", ", de"), ([], nil, nil),
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
        other.topic = "com.example.other"
        development.environment = .development
        let name = LookupName(
            topic: "com.example.goal", environment: .production, key: try #require(EventKey(rawValue: "derby")),
            variant: asked.flatMap { Variant(rawValue: $0) })
        var entry = LookupEntry([other, development] + records)
        let answer = entry.answer(to: name, now: now)
        let found: String? =
            switch answer {
            case .found:
                "\(text(answer)?.split(separator: "\"variant\":\"").dropFirst().first?.prefix { $0 != "\"" } ?? "")"
            case .over: "(\(entry.record(of: name)?.variant?.rawValue ?? ""))"
            case .noSuchVariant(let variants): variants.map { $0?.rawValue ?? "" }.joined(separator: ", ")
            case .pending, nil: nil
            }
        #expect(found == expected)
    }

    @Test func `an audience with delivery by token is found without a channel`() throws {
        for channelID in [nil, "abc="] {
            var record = record(channelID: channelID)
            record.delivery = .tokens
            #expect(
                text(ask(record))
                    == #"{"eventKey":"derby","channelId":null,"delivery":"tokens","storagePolicy":"noMessageStored","#
                    + #""state":"scheduled","startsAt":null,"endsAt":null}"#)
            record.endedAt = now
            #expect(ask(record) == .over())
        }
    }

    @Test func `an event becomes live at its start, gets another tag, and stays live`() throws {
        let start = now.addingTimeInterval(60)
        var entry = LookupEntry([record(startsAt: start)])
        let before = entry.answer(to: name, now: start.addingTimeInterval(-0.001))
        #expect(text(before)?.contains("scheduled") == true)
        let after = entry.answer(to: name, now: start)
        #expect(text(after)?.contains("live") == true && after != before)
        #expect(entry.answer(to: name, now: start.addingTimeInterval(1)) == after)
    }

    @Test(arguments: [("TAG", true), ("\"x\", TAG", true), ("W/TAG", true), ("*", true), ("\"x\"", false), ("", false)])
    func `If-None-Match may have the tag strong, weak, in a list, or as *`(_ header: String, _ matches: Bool) {
        let tag = EntityTag(of: Array("body".utf8))
        #expect(tag.matches(header.replacing("TAG", with: tag.text)) == matches)
        #expect(tag != EntityTag(of: Array("bodz".utf8)))
    }
}
