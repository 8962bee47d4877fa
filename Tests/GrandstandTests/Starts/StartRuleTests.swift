internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The rules of starts: when, in which form, in which language and with which bytes.
struct StartRuleTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_300_000)

    private static func start(at: Date? = nil, until: Date? = nil) -> StartDeclaration {
        StartDeclaration(
            at: at, until: until, attributesType: "M\"", attributes: Array(#"{ "a" : 1.0 }"#.utf8),
            alert: Array(#"{"title":"t"}"#.utf8))
    }

    @Test func `the window of a start is the declared one, the event's, or four hours`() {
        let (noon, hour) = (Self.noon, 3_600.0)
        func window(
            _ start: StartDeclaration, _ startsAt: Date? = nil, _ endsAt: Date? = nil, askedAt: Date? = nil
        ) -> [Double]? {
            StartWindow(start, startsAt: startsAt, endsAt: endsAt, askedAt: askedAt).map {
                [$0.from, $0.until].map { $0.timeIntervalSince(noon) / hour }
            }
        }
        let later = noon.addingTimeInterval(hour)
        #expect(window(Self.start()) == nil)
        #expect(window(Self.start(at: noon)) == [0, 4])
        #expect(window(Self.start(at: noon, until: later)) == [0, 1])
        #expect(window(Self.start(at: noon), later, noon.addingTimeInterval(2 * hour)) == [0, 2])
        #expect(window(Self.start(), noon, later) == [0, 1])
        #expect(window(Self.start(at: later), nil, noon) == [1, 5])
        #expect(window(Self.start(at: later), askedAt: noon) == [0, 5])
        #expect(window(Self.start(), later, askedAt: noon) == [0, 5])
        #expect(window(Self.start(at: later), nil, noon.addingTimeInterval(hour / 2), askedAt: noon) == [0, 5])
        #expect(window(Self.start(at: later), nil, noon.addingTimeInterval(2 * hour), askedAt: noon) == [0, 2])
        #expect(window(Self.start(at: noon), askedAt: later) == [0, 4])
    }

    @Test func `a start without its own values gets the event's defaults`() throws {
        var start = Self.start()
        let defaults = EventDefaults(staleAfter: 120, relevanceScore: Array("80.5".utf8))
        #expect(StartPayload(start, filledBy: defaults, at: Self.noon) == nil)
        start.contentState = Array("{}".utf8)
        let filled = try #require(StartPayload(start, filledBy: defaults, at: Self.noon.addingTimeInterval(0.9)))
        #expect(filled.staleDate == Int(Self.noon.timeIntervalSince1970) + 120)
        #expect(filled.relevanceScore == defaults.relevanceScore)
        start.staleDate = Self.noon
        #expect(
            StartPayload(start, filledBy: defaults, at: Self.noon)?.staleDate == Int(Self.noon.timeIntervalSince1970))
        let plain = try #require(StartPayload(start, filledBy: EventDefaults(), at: Self.noon))
        #expect(plain == StartPayload(start, contentState: Array("{}".utf8)))
        // The check of the push's size includes the values that come from the event's defaults.
        start.staleDate = nil
        let room =
            4_096
            - StartPayload(start, contentState: Array("{}".utf8)).size(
                [], timestamp: 4_000_000_000, input: .channel(String(repeating: "A", count: 24)))
        start.contentState = Array(#"{"s":"\#(String(repeating: "x", count: room - 6))"}"#.utf8)
        try start.requireFit(with: EventDefaults())
        #expect(throws: Problem.self) { try start.requireFit(with: defaults) }
    }

    @Test func `the newest accepted content is used instead of the declared one, with its message's values`() {
        var start = Self.start()
        start.contentState = Array(#"{"score":"0-0"}"#.utf8)
        let defaults = EventDefaults(staleAfter: 120, relevanceScore: Array("80.5".utf8))
        let newest = NewestContent(
            broadcast: UUID(), contentState: Array(#"{"score":"1-0"}"#.utf8), staleDate: 1_795_300_060,
            relevanceScore: Array("9".utf8))
        for contentState in [start.contentState, nil] {
            start.contentState = contentState
            let payload = StartPayload(start, newest: newest, filledBy: defaults, at: Self.noon)
            #expect(payload?.contentState == newest.contentState)
            #expect(payload?.staleDate == newest.staleDate)
            #expect(payload?.relevanceScore == newest.relevanceScore)
            #expect(payload?.alert == start.alert)
        }
        #expect(StartPayload(start, newest: nil, filledBy: defaults, at: Self.noon) == nil)
    }

    @Test(arguments: [
        ("17.1", true, true, StartForm.ineligible(.system)), ("17.2", true, true, .plain), ("17.7", true, true, .plain),
        ("18", true, true, .channel), ("26.4.1", true, true, .channel), ("18", false, false, .ineligible(.disabled)),
        ("18", true, false, .ineligible(.noToken)), ("9.9", false, false, .ineligible(.system)),
    ])
    func `the system version, the permission and the token decide the form of a start`(
        version: String, enabled: Bool, hasToken: Bool, form: StartForm
    ) throws {
        let system = try #require(SystemVersion(version))
        #expect(
            StartForm(systemVersion: system, liveActivitiesEnabled: enabled, hasToken: hasToken, delivery: .channel)
                == form)
        let tokens = StartForm(
            systemVersion: system, liveActivitiesEnabled: enabled, hasToken: hasToken, delivery: .tokens)
        #expect(tokens == (form == .channel ? .token : form))
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

    @Test func `a push contains the organiser's bytes unchanged, and its size is that with the longest alert`() {
        var payload = StartPayload(Self.start(), contentState: Array(#"{"s": [1]}"#.utf8))
        let head =
            #"{"aps":{"timestamp":1795300000,"event":"start","attributes-type":"M\"","attributes":{ "a" : 1.0 },"#
        let middle = #""content-state":{"s": [1]},"alert":{"title":"t"}"#
        func text(_ input: StartPayload.Input) -> String {
            String(decoding: payload.body(timestamp: 1_795_300_000, input: input), as: UTF8.self)
        }
        #expect(text(.none) == head + middle + "}}")
        #expect(text(.token) == head + middle + #","input-push-token":1}}"#)
        // The size is computed with the longest alert.
        let plain = payload.body(timestamp: 1_795_300_000, input: .token).count
        let long = Array(#"{"title":"twelve more."}"#.utf8)
        #expect(payload.size([long, [1]], timestamp: 1_795_300_000, input: .token) == plain + 11)
        payload.staleDate = 1_795_303_600
        payload.relevanceScore = Array("0.50".utf8)
        #expect(
            text(.channel("a/b+=="))
                == head + middle + #","input-push-channel":"a/b+==","stale-date":1795303600,"relevance-score":0.50}}"#)
    }

    @Test
    func `the reports of audiences add up to the event's, and a rate counts only the time with something to send`() {
        func at(_ seconds: Double) -> Date { Self.noon.addingTimeInterval(seconds) }
        func report(_ state: StartReport.State, _ startedAt: Double? = nil, _ finishedAt: Double? = nil) -> StartReport
        {
            var counts = StartReport.Counts()
            counts.followers = 2
            counts.ineligible = [.noToken: 1]
            return StartReport(
                state: state, startedAt: startedAt.map(at), finishedAt: finishedAt.map(at), counts: counts,
                byReason: ["A": 1])
        }
        let all = StartReport(of: [report(.done, 1, 5), report(.running, 2), report(.scheduled)])
        #expect(all.state == .running && all.startedAt == at(1) && all.finishedAt == nil)
        #expect(all.counts.followers == 6 && all.counts.ineligible == [.noToken: 3] && all.byReason == ["A": 3])
        #expect(StartReport(of: [report(.done, 1, 5), report(.done, 2, 3)]).finishedAt == at(5))
        #expect(StartReport(of: [report(.done), report(.waiting), report(.scheduled)]).state == .waiting)

        let none = StartReport(state: .running, rate: nil)
        let ended = StartReport(state: .running, rate: .init(answered: 40, from: at(0), until: at(10)))
        let underWay = StartReport(state: .running, rate: .init(answered: 20, from: at(20)))
        for (rate, reports) in [(4.0, [ended]), (0.5, [underWay]), (4, [ended, none]), (1, [ended, underWay])] {
            #expect(StartReport(of: reports).perSecond(at: at(60)) == rate)
        }
        #expect(none.perSecond(at: at(60)) == nil)
    }
}
