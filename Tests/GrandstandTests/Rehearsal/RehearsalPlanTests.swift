internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// A day as a schedule.
struct RehearsalPlanTests {
    /// 2026-11-28 in UTC.
    private static let midnight = Date(timeIntervalSince1970: 1_795_824_000)
    private static let day = midnight..<midnight.addingTimeInterval(86_400)

    private static func at(_ hour: Double) -> Date { midnight.addingTimeInterval(hour * 3_600) }

    private static func event(
        _ key: String, _ from: Double, _ to: Double? = nil, opens: Double? = nil, topics: [String]? = nil
    ) -> RehearsalEvent {
        RehearsalEvent(
            key: key, startsAt: at(from), endsAt: to.map(at), opensAt: opens.map(at), hasStart: topics != nil,
            topics: topics ?? [])
    }

    private static func plan(
        _ playing: [RehearsalEvent], others: [RehearsalEvent] = [], messages: Int = 4, speed: Double = 60
    ) throws -> RehearsalPlan {
        try #require(RehearsalPlan(playing: playing, others: others, day: day, messages: messages, speed: speed))
    }

    @Test func `updates are spread over an event, two hours if it has no end, and its end is the last message`() throws
    {
        let plan = try Self.plan([Self.event("derby", 18)])
        let script = try #require(plan.scripts.first)
        #expect(script.messages.map(\.at) == [18, 18.5, 19, 19.5, 20].map(Self.at))
        #expect(script.messages.map(\.isEnd) == [false, false, false, false, true])
        #expect(plan.moment(of: Self.at(18.75), since: Self.midnight) == Self.midnight.addingTimeInterval(60))
        let many = try #require(try Self.plan([Self.event("derby", 18, 20)], messages: 40).scripts.first)
        #expect(many.messages.filter(\.rings).map(\.number) == [8, 16, 24, 32, 40])
    }

    @Test func `a recorded feed keeps its times, its last state is the end, and none is after the event`() throws {
        let plan = try #require(
            RehearsalPlan(
                playing: [Self.event("derby", 18, 20)], others: [], day: Self.day, messages: 40,
                feed: [0, 1_800, 9_000], speed: 60))
        let script = try #require(plan.scripts.first)
        #expect(script.messages.map(\.at) == [18, 18.5, 20].map(Self.at))
        #expect(script.messages.map(\.isEnd) == [false, false, true])
    }

    @Test func `a rehearsal begins shortly before its first action, not at midnight`() throws {
        #expect(try Self.plan([Self.event("a", 18, 20)]).begins == Self.at(17.75))
        // If channels open on the day, the rehearsal begins when the first of them opens, or earlier.
        #expect(try Self.plan([Self.event("a", 18, 20, opens: 12)]).begins == Self.at(12))
        // Creating channels takes real time, so a fast rehearsal begins earlier on the day.
        #expect(try Self.plan([Self.event("a", 18, 20)], speed: 3_600).begins == Self.at(16))
    }

    @Test func `other events hold their places until their end if they can`() throws {
        let others = [
            Self.event("before", 10, 12), Self.event("beside", 17, 19), Self.event("later", 23, 25),
            Self.event("opens later", 40, 42, opens: 30), Self.event("open since long", 40, 42, opens: -90),
            RehearsalEvent(key: "without times"),
        ]
        let silent = try Self.plan([Self.event("a", 18, 20)], others: others).scripts.filter { !$0.isPlayed }
        #expect(silent.map(\.event.key) == ["beside", "later", "open since long", "without times"])
        #expect(silent.map { $0.messages.map(\.at) } == [[Self.at(19)], [], [], []])
    }

    @Test func `problems of a day are reported`() {
        let notices = RehearsalNotice.all(of: [
            Self.event("a", 12, 14, topics: ["league", "a"]), Self.event("b", 13, 15, topics: ["league"]),
            Self.event("c", 14, 16, topics: ["league"]), Self.event("d", 1, topics: []), Self.event("e", 1, 10),
        ])
        #expect(notices.map(\.kind) == [.noEnd, .noFollowers, .tooLong, .overlap])
        #expect(notices.map(\.subject) == ["d", "d", "e", "league"])
        // At 13:00 the first two events overlap. When the third event starts, the first has ended.
        let crowded = (0..<11).map { Self.event("\($0)", 12 + Double($0) * 0.05, 14, topics: ["league"]) }
        #expect(RehearsalNotice.all(of: crowded).map(\.kind) == [.overlap, .startBudget])
    }
}
