internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import Testing

@testable internal import Grandstand

/// The rules of starts: when, in which form, in which language and with which bytes.
struct StartRuleTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_300_000)

    private static func start(at: Date? = nil, until: Date? = nil) -> Contract.StartDraft {
        Contract.StartDraft(
            at: at, until: until, attributesType: "M\"", attributes: RawJSON(unchecked: #"{ "a" : 1.0 }"#.utf8),
            alert: RawJSON(unchecked: #"{"title":"t"}"#.utf8), restart: false)
    }

    @Test func `a start lasts as declared, or for four hours after the event's planned end or newest message`() {
        let (noon, hour) = (Self.noon, 3_600.0)
        func window(
            _ start: Contract.StartDraft, _ startsAt: Date? = nil, _ endsAt: Date? = nil, askedAt: Date? = nil,
            lastMessageAt: Date? = nil
        ) -> [Double]? {
            StartWindow(
                start, startsAt: startsAt, endsAt: endsAt, askedAt: askedAt, lastMessageAt: lastMessageAt
            ).map {
                [$0.from, $0.until].map { $0.timeIntervalSince(noon) / hour }
            }
        }
        let later = noon.addingTimeInterval(hour)
        #expect(window(Self.start()) == nil)
        #expect(window(Self.start(at: noon)) == [0, 4])
        #expect(window(Self.start(at: noon, until: later)) == [0, 1])
        #expect(window(Self.start(at: noon), later, noon.addingTimeInterval(2 * hour)) == [0, 6])
        #expect(window(Self.start(), noon, later) == [0, 5])
        #expect(window(Self.start(at: noon), later) == [0, 5])
        let last = noon.addingTimeInterval(3 * hour)
        #expect(window(Self.start(), noon, later, lastMessageAt: last) == [0, 7])
        #expect(window(Self.start(until: later), noon, later, lastMessageAt: last) == [0, 1])
        #expect(window(Self.start(at: later), nil, noon) == [1, 5])
        #expect(window(Self.start(at: later), askedAt: noon) == [0, 5])
        #expect(window(Self.start(), later, askedAt: noon) == [0, 5])
        #expect(window(Self.start(at: later), nil, noon.addingTimeInterval(hour / 2), askedAt: noon) == [0, 5])
        #expect(window(Self.start(at: later), nil, noon.addingTimeInterval(2 * hour), askedAt: noon) == [0, 6])
        #expect(window(Self.start(at: noon), askedAt: later) == [0, 4])
    }

    @Test func `a push expires after minutes, and never after the event's end`() throws {
        let noon = Self.noon
        func seconds(_ start: Contract.StartDraft, _ endsAt: Double? = nil, at now: Double = 0) throws -> Int {
            let ends = endsAt.map(noon.addingTimeInterval)
            let window = try #require(StartWindow(start, startsAt: noon, endsAt: ends))
            let now = noon.addingTimeInterval(now)
            return window.expiration(of: start, at: now) - Int(now.timeIntervalSince1970)
        }
        var start = Self.start(until: noon.addingTimeInterval(34 * 86_400))
        #expect(try seconds(start) == 900)
        #expect(try seconds(start, 600) == 600)
        #expect(try seconds(start, 7_200, at: 7_000) == 200)
        #expect(try seconds(start, 7_200, at: 7_300) == 900)
        start.expiresIn = 60
        #expect(try seconds(start, 7_200) == 60)
        start.until = noon.addingTimeInterval(30)
        #expect(try seconds(start, 7_200) == 30)
    }

    @Test func `a card without a stale date is out of date when its event should be over`() throws {
        var start = Self.start()
        start.contentState = RawJSON(unchecked: "{}".utf8)
        let window = try #require(StartWindow(start, startsAt: Self.noon, endsAt: Self.noon + 7_200))
        func staleDate(_ now: Double, _ defaults: Contract.EventDefaults = Contract.EventDefaults()) -> Int? {
            let now = Self.noon + now
            return start.payload(filledBy: defaults, at: now, until: window.eventEnd(at: now))?.staleDate.map {
                $0 - Int(Self.noon.timeIntervalSince1970)
            }
        }
        #expect(staleDate(60) == 7_200)
        #expect(staleDate(60, Contract.EventDefaults(staleAfter: 120)) == 180)
        start.staleDate = Self.noon + 300
        #expect(staleDate(60, Contract.EventDefaults(staleAfter: 120)) == 300)
    }

    @Test func `a start without its own values gets the event's defaults`() throws {
        var start = Self.start()
        let defaults = Contract.EventDefaults(staleAfter: 120, relevanceScore: RawJSON(unchecked: "80.5".utf8))
        #expect(start.payload(filledBy: defaults, at: Self.noon) == nil)
        start.contentState = RawJSON(unchecked: "{}".utf8)
        let filled = try #require(start.payload(filledBy: defaults, at: Self.noon.addingTimeInterval(0.9)))
        #expect(filled.staleDate == Int(Self.noon.timeIntervalSince1970) + 120)
        #expect(filled.relevanceScore == Array("80.5".utf8))
        // The check of the push's size includes the values that come from the event's defaults.
        var longest = try #require(start.payload(filledBy: .init(), at: Self.noon, until: Self.noon))
        longest.listen(to: String(repeating: "A", count: 24))
        let room = 4_096 - longest.size([], timestamp: 4_000_000_000)
        start.contentState = RawJSON(unchecked: #"{"s":"\#(String(repeating: "x", count: room - 6))"}"#.utf8)
        try start.requireFit(with: Contract.EventDefaults())
        #expect(throws: Problem.self) { try start.requireFit(with: defaults) }
    }

    @Test func `the newest accepted content is used instead of the declared one, with its message's values`() {
        var start = Self.start()
        start.contentState = RawJSON(unchecked: #"{"score":"0-0"}"#.utf8)
        let defaults = Contract.EventDefaults(staleAfter: 120, relevanceScore: RawJSON(unchecked: "80.5".utf8))
        let newest = NewestContent(
            broadcast: UUID(), contentState: RawJSON(unchecked: #"{"score":"1-0"}"#.utf8), staleDate: 1_795_300_060,
            relevanceScore: RawJSON(unchecked: "9".utf8))
        for contentState in [start.contentState, nil] {
            start.contentState = contentState
            let payload = start.payload(newest: newest, filledBy: defaults, at: Self.noon)
            #expect(payload?.contentState == newest.contentState.utf8)
            #expect(payload?.staleDate == newest.staleDate)
            #expect(payload?.relevanceScore == newest.relevanceScore?.utf8)
            #expect(payload?.alert == Array(start.alert.bytes))
        }
    }

    @Test(arguments: [
        ("de-Latn-AT-x-rapid", "de-Latn-AT"), ("de-Latn-AT", "de-Latn-AT"), ("de-Latn-CH", "de-Latn"), ("DE_CH", "de"),
        ("de", "de"), ("pt-BR", nil), ("d", nil), ("", nil), ("zh-a-x-y", "zh"), ("zh-a", "zh"),
    ])
    func `the alert in a language is found by the longest matching tag`(locale: String, tag: String?) {
        let tags = ["de", "de-latn", "de-Latn-AT", "zh"]
        let alerts = LocaleLookup(Dictionary(uniqueKeysWithValues: tags.map { ($0.lowercased(), $0.lowercased()) }))
        #expect(alerts.value(for: locale) == tag?.lowercased())
    }

    @Test func `a push contains the organiser's bytes unchanged, and its size is that with the longest alert`() throws {
        var start = Self.start()
        start.contentState = RawJSON(unchecked: #"{"s": [1]}"#.utf8)
        var payload = try #require(start.payload(filledBy: .init(), at: Self.noon))
        let head =
            #"{"aps":{"timestamp":1795300000,"event":"start","attributes-type":"M\"","attributes":{ "a" : 1.0 },"#
        let middle = #""content-state":{"s": [1]},"alert":{"title":"t"}"#
        func text() -> String { String(decoding: payload.body(timestamp: 1_795_300_000), as: UTF8.self) }
        #expect(text() == head + middle + "}}")
        payload.listen(to: nil)
        #expect(text() == head + middle + #","input-push-token":1}}"#)
        // The size is computed with the longest alert.
        let long = Array(#"{"title":"twelve more."}"#.utf8)
        #expect(payload.size([long, [1]], timestamp: 1_795_300_000) == text().utf8.count + 11)
        payload.staleDate = 1_795_303_600
        payload.relevanceScore = Array("0.50".utf8)
        payload.listen(to: "a/b+==")
        #expect(
            text()
                == head + middle + #","input-push-channel":"a/b+==","stale-date":1795303600,"relevance-score":0.50}}"#)
    }

    @Test func `reports of audiences add up to the event's, and a rate counts only time with work`() {
        func at(_ seconds: Double) -> Date { Self.noon.addingTimeInterval(seconds) }
        func report(
            _ state: Contract.StartState, _ startedAt: Double? = nil, _ finishedAt: Double? = nil
        ) -> Contract.AudienceStart {
            var counts = Contract.StartCounts()
            counts.followers = 2
            counts.ineligible.noToken = 1
            return Contract.AudienceStart(
                bundleId: "com.example.Goal", environment: .production, state: state, startedAt: startedAt.map(at),
                finishedAt: finishedAt.map(at), counts: counts, byReason: ["A": 1])
        }
        func total(_ reports: [Contract.AudienceStart], _ answered: Int = 0) -> Contract.StartReport {
            Contract.StartReport(reports, answered: answered, by: nil, at: at(60))
        }
        let all = total([report(.done, 1, 5), report(.running, 2), report(.scheduled)])
        #expect(all.state == .running && all.startedAt == at(1) && all.finishedAt == nil)
        #expect(all.counts.followers == 6 && all.counts.ineligible.total == 3 && all.byReason == ["A": 3])
        #expect(total([report(.done, 1, 5), report(.done, 2, 3), report(.done)]).finishedAt == at(5))
        #expect(total([report(.done), report(.waiting), report(.scheduled)]).state == .waiting)
        #expect(total([report(.done, 0, 10)], 40).perSecond == 4)
        #expect(total([report(.done, 0, 10), report(.running, 20)], 60).perSecond == 1)
        #expect(total([report(.running, 0)]).perSecond == nil)
    }
}
