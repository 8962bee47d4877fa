internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import Testing

@testable internal import Grandstand

struct StateTests {
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
}
