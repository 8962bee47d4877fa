internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import JSON
internal import Testing

@testable internal import Grandstand

struct StateTests {
    private let now = Date(timeIntervalSince1970: 100)
    private let before = Date(timeIntervalSince1970: 50)
    private let after = Date(timeIntervalSince1970: 150)

    @Test func `an event is live from its start or its first update`() {
        func state(_ startsAt: Date?, _ first: Date?, _ ended: Date?, _ cancelled: Date?) -> Contract.EventState {
            Contract.EventState(
                startsAt: startsAt, firstUpdateAt: first, endedAt: ended, cancelledAt: cancelled, now: now)
        }
        #expect(state(nil, nil, nil, nil) == .scheduled)
        #expect(state(after, nil, nil, nil) == .scheduled)
        #expect(state(before, nil, nil, nil) == .live)
        #expect(state(after, before, nil, nil) == .live)
        #expect(state(before, before, before, nil) == .ended)
        #expect(state(before, before, nil, before) == .cancelled)
    }

    @Test func `a broadcast is done when every delivery is settled, and cancelled if nothing was or will be sent`() {
        func state(_ deliveries: [Contract.DeliveryState], isCancelled: Bool = false) -> Contract.BroadcastState {
            Contract.BroadcastState(isScheduled: false, isCancelled: isCancelled, deliveries: deliveries)
        }
        #expect(state([.accepted, .sending]) == .queued)
        #expect(state([.accepted, .superseded, .accepted]) == .done)
        #expect(state([.cancelled, .cancelled]) == .cancelled)
        #expect(state([.cancelled, .accepted]) == .done)
        #expect(state([]) == .done)
        #expect(state([], isCancelled: true) == .cancelled)
    }
}

/// An event's defaults for messages without their own values.
struct EventDefaultsTests {
    private let now = Date(timeIntervalSince1970: 1_000.75)
    private let defaults = Contract.EventDefaults(
        priority: 10, staleAfter: 300, expiresIn: 60, relevanceScore: RawJSON(unchecked: "7.50".utf8))

    private func request(_ event: Contract.BroadcastKind) -> Contract.BroadcastDraft {
        Contract.BroadcastDraft(event: event, contentState: RawJSON(unchecked: "{}".utf8))
    }

    @Test func `a message without its own values gets the defaults`() {
        let filled = request(.update).filled(by: defaults, at: now)
        // The event's priority is not copied to the message's own priority, because the audience's priority is used
        // before the event's.
        #expect(filled.priority == nil)
        #expect(filled.expiresIn == 60 && filled.payload().staleDate == 1_300)
        #expect(filled.relevanceScore?.description == "7.50")
        // An end does not expire early.
        let end = request(.end).filled(by: defaults, at: now)
        #expect(end.expiresIn == nil && end.payload().staleDate == 1_300)
        #expect(request(.update).filled(by: Contract.EventDefaults(), at: now) == request(.update))
    }

    @Test func `a message's own values come first, even one set by a header`() {
        var own = request(.update)
        own.priority = 5
        own.apnsExpiration = 0
        own.staleDate = Date(timeIntervalSince1970: 5)
        own.relevanceScore = RawJSON(unchecked: "1".utf8)
        #expect(own.filled(by: defaults, at: now) == own)
        var timed = request(.update)
        timed.expiresIn = 10
        #expect(timed.filled(by: defaults, at: now).expiresIn == 10)
    }
}

private let now = Date(timeIntervalSince1970: 1_795_300_000)

private func at(_ seconds: Double) -> Date { now.addingTimeInterval(seconds) }

private func times(_ startsAt: Double?, _ endsAt: Double? = nil) -> DeclarationWarnings.Times {
    (startsAt.map(at), endsAt.map(at))
}

/// When a broadcast is sent, and the warnings about its times.
struct SendTimeTests {
    private let key: EventKey

    init() throws { key = try #require(EventKey(rawValue: "derby")) }

    private static func request(
        sendAt: Double? = nil, afterStart: Int? = nil, staleDate: Double? = nil
    ) -> Contract.BroadcastDraft {
        let relative = afterStart.map { Contract.SendTime.afterStart(.init(afterStart: $0)) }
        return Contract.BroadcastDraft(
            event: .update, contentState: RawJSON(unchecked: "{}".utf8),
            staleDate: staleDate.map(at), sendAt: relative ?? sendAt.map { .at(at($0)) })
    }

    @Test func `a time may be relative to the start of the event`() throws {
        for (seconds, time) in [(-600, 3_000.0), (0, 3_600), (60, 3_660)] {
            let sendAt = try Self.request(afterStart: seconds).sendAt(startsAt: at(3_600), of: .event(key))
            #expect(sendAt == at(time))
        }
        let own = try Self.request(sendAt: 60).sendAt(startsAt: at(3_600), of: .event(key))
        #expect(own == at(60))
        #expect(try Self.request().sendAt(startsAt: nil, of: .event(key)) == nil)
    }

    @Test func `a relative time is refused if the event has no start, with the reason`() throws {
        for (target, words) in [
            (BroadcastTarget.event(key), "startsAt of the event derby, which has none"),
            (.channel(UUID()), "this broadcast is not for an event"),
        ] {
            let problem = #expect(throws: Problem.self) {
                try Self.request(afterStart: -600).sendAt(startsAt: nil, of: target)
            }
            #expect(problem?.kind == .invalidRequest && problem?.errors.map(\.pointer) == ["/sendAt"])
            #expect(problem?.errors.first?.detail.contains(words) == true)
        }
    }

    @Test func `times in the past and after the event's end give one warning each, with the value`() {
        func warnings(_ request: Contract.BroadcastDraft, endsAt: Date? = at(7_200)) -> [String] {
            let sendAt = try? request.sendAt(startsAt: at(3_600), of: .channel(UUID()))
            return request.warnings(at: now, endsAt: endsAt, sendAt: sendAt)
        }
        #expect(warnings(Self.request()).isEmpty && warnings(Self.request(sendAt: 0)).isEmpty)
        #expect(warnings(Self.request(sendAt: 7_200, staleDate: 7_201)).isEmpty)
        #expect(warnings(Self.request(sendAt: 7_201), endsAt: nil).isEmpty)
        let relative = Self.request(afterStart: -3_601)
        for (request, beginning) in [
            (Self.request(sendAt: -1), "sendAt is 2026-11-21T22:26:39.000Z, which is in the past"),
            (relative, "sendAt (-3601 s after startsAt) is 2026-11-21T22:26:39.000Z, which is in the past"),
            (Self.request(sendAt: 7_201), "sendAt is 2026-11-22T00:26:41.000Z, which is after endsAt"),
            (Self.request(staleDate: 0), "staleDate is 2026-11-21T22:26:40.000Z"),
            (Self.request(sendAt: 60, staleDate: 60), "staleDate is 2026-11-21T22:27:40.000Z"),
        ] {
            let told = warnings(request)
            #expect(told.count == 1 && told[0].hasPrefix(beginning), "\(told)")
        }
        #expect(warnings(Self.request(sendAt: -1, staleDate: -5)).count == 2)
    }

    @Test func `a broadcast whose channel has no place has a warning with the time until which it waits`() throws {
        let audience = try Audience.sample("de")
        var plan = try DeliveryPlan(Self.request(), audiences: [audience], now: now)
        plan.warn(withoutPlace: [])
        #expect(plan.warnings.isEmpty)
        plan.warn(withoutPlace: [audience])
        #expect(plan.warnings.count == 1)
        #expect(plan.warnings[0].contains("com.example.App in production for variant de"))
        #expect(plan.warnings[0].contains("until \(RFC3339.text(plan.expiresAt))"))
    }
}

/// The warnings for a declaration that moves an event or removes an audience.
struct DeclarationWarningsTests {
    private typealias Scheduled = DeclarationWarnings.Scheduled

    /// The declaration of an event whose times were `before`.
    private static func declared(
        _ before: DeclarationWarnings.Times?, _ startsAt: Double?, _ endsAt: Double? = nil,
        start: Contract.StartDraft? = nil
    ) -> DeclarationWarnings {
        DeclarationWarnings(from: before, to: times(startsAt, endsAt), start: start, now: now)
    }

    @Test func `an event is postponed when its start moves later, into the future`() {
        for (before, after, isPostponed) in [
            (-60.0 as Double?, 60.0 as Double?, true), (60, 120, true), (nil, 60, true), (120, 60, false),
            (60, 60, false), (-60, -30, false), (-60, nil, false), (60, 0, false),
        ] {
            #expect(Self.declared(times(before), after).isPostponed == isPostponed, "\(before ?? 0)")
        }
    }

    @Test func `one warning says that messages with a fixed time keep it when the event moves`() {
        let own = [Scheduled(sendAt: at(60)), Scheduled(sendAt: at(90))]
        let told = Self.declared(times(3_600), 7_200)
        #expect(Self.declared(times(7_200), 7_200).moving(own).isEmpty)
        #expect(told.moving([]).isEmpty)
        let warnings = told.moving(own)
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains(": 2, the first at 2026-11-21T22:27:40.000Z.") == true)
        #expect(Self.declared(times(3_600), nil).moving(own).count == 1)
    }

    @Test func `messages relative to the start move without a warning, unless they become late or past`() {
        let relative = [Scheduled(sendAt: at(3_000), afterStart: -600)]
        #expect(Self.declared(times(3_600, 9_000), 7_200, 9_000).moving(relative).isEmpty)
        // The third warning uses the event's new start. The message is sent 600 s after this start, which is later than
        // `endsAt`.
        let after = [Scheduled(sendAt: at(3_000), afterStart: 600)]
        for (warnings, words, time) in [
            (Self.declared(times(3_600), 300).moving(relative), "sent at once", -300.0),
            (Self.declared(times(3_600), nil).moving(relative), "wait until it is set", 3_000),
            (Self.declared(times(2_400, 7_500), 7_200, 7_500).moving(after), "after endsAt", 7_800),
        ] {
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains(words) == true)
            #expect(warnings.first?.contains(RFC3339.text(at(time))) == true)
        }
    }

    @Test func `removing an audience without an end gives a warning with the number of followers`() throws {
        let audience = try Audience.sample("de").id
        #expect(DeclarationWarnings.removing(audience, channelID: nil, hasTokens: false) == [])
        let ofChannel = DeclarationWarnings.removing(audience, channelID: "a==", hasTokens: false)[0]
        #expect(ofChannel.contains("com.example.App in production for variant de") && ofChannel.contains("channel a=="))
        let ofTokens = DeclarationWarnings.removing(audience, channelID: nil, hasTokens: true)[0]
        #expect(ofTokens.contains("have tokens") && !ofTokens.contains("follow its channel"))
    }

    private static func start(at time: Date?, staleDate: Date? = nil) -> Contract.StartDraft {
        Contract.StartDraft(
            at: time, attributesType: "Match", attributes: RawJSON(unchecked: "{}".utf8),
            alert: RawJSON(unchecked: "{}".utf8), staleDate: staleDate, restart: false)
    }

    @Test(arguments: [7_200.0, nil]) func `a start with its own time warns when its event moves`(after: Double?) {
        func warnings(_ startAt: Double, from before: Double?) -> [String] {
            let told = Self.declared(times(before), after, start: Self.start(at: at(60)))
            return told.keeping(startAt: at(startAt))
        }
        #expect(warnings(60, from: 3_600).count == 1)
        #expect(warnings(30, from: 3_600).isEmpty && warnings(60, from: after).isEmpty)
    }

    @Test func `a start whose content is stale from the beginning gives a warning`() {
        func warnings(_ staleDate: Double?, at time: Double? = nil) -> [String] {
            Self.declared(nil, 3_600, start: Self.start(at: time.map(at), staleDate: staleDate.map(at))).start
        }
        #expect(Self.declared(nil, 3_600).start.isEmpty)
        #expect(warnings(nil).isEmpty)
        #expect(warnings(3_601).isEmpty)
        #expect(warnings(3_600).count == 1)
        #expect(warnings(60, at: 0).isEmpty)
        #expect(warnings(-60, at: -120).first?.contains(RFC3339.text(at(-60))) == true)
    }
}
