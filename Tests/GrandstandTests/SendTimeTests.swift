internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Testing

/// When a broadcast is sent, and the warnings about its times.
struct SendTimeTests {
    private static let now = Date(timeIntervalSince1970: 1_795_300_000)
    private let key: EventKey

    init() throws { key = try #require(EventKey(rawValue: "derby")) }

    private static func request(
        sendAt: Double? = nil, afterStart: Int? = nil, staleDate: Double? = nil
    ) -> BroadcastRequest {
        var request = BroadcastRequest(
            payload: BroadcastPayload(
                event: .update, contentState: Array("{}".utf8),
                staleDate: staleDate.map { Int(now.timeIntervalSince1970 + $0) }),
            sendAt: sendAt.map(now.addingTimeInterval))
        request.sendAfterStart = afterStart
        return request
    }

    private static func times(_ startsAt: Double?, _ endsAt: Double? = nil) -> EventTimes {
        EventTimes(startsAt: startsAt.map(now.addingTimeInterval), endsAt: endsAt.map(now.addingTimeInterval))
    }

    @Test func `a time may be relative to the start of the event`() throws {
        for (seconds, at) in [(-600, 3_000.0), (0, 3_600), (60, 3_660)] {
            let timed = try Self.request(afterStart: seconds).timed(by: Self.times(3_600), for: .event(key))
            #expect(timed.sendAt == Self.now.addingTimeInterval(at) && timed.sendAfterStart == seconds)
        }
        let own = try Self.request(sendAt: 60).timed(by: Self.times(3_600), for: .event(key))
        #expect(own.sendAt == Self.now.addingTimeInterval(60))
        #expect(try Self.request().timed(by: Self.times(nil), for: .event(key)).sendAt == nil)
    }

    @Test func `a relative time is refused if the event has no start, with the reason`() throws {
        for (target, words) in [
            (BroadcastTarget.event(key), "startsAt of the event derby, which has none"),
            (.channel(UUID()), "this broadcast is not for an event"),
        ] {
            let problem = #expect(throws: Problem.self) {
                try Self.request(afterStart: -600).timed(by: Self.times(nil, 60), for: target)
            }
            #expect(problem?.kind == .invalidRequest && problem?.errors.map(\.pointer) == ["/sendAt"])
            #expect(problem?.errors.first?.detail.contains(words) == true)
        }
    }

    @Test func `times in the past and after the event's end give one warning each, with the value`() {
        func warnings(_ request: BroadcastRequest, _ times: EventTimes = Self.times(3_600, 7_200)) -> [String] {
            request.warnings(at: Self.now, times)
        }
        #expect(warnings(Self.request()).isEmpty && warnings(Self.request(sendAt: 0)).isEmpty)
        #expect(warnings(Self.request(sendAt: 7_200, staleDate: 7_201)).isEmpty)
        #expect(warnings(Self.request(sendAt: 7_201), EventTimes()).isEmpty)
        var relative = Self.request(sendAt: -1)
        relative.sendAfterStart = -3_601
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
        let audience = Audience(
            id: Audience.ID(
                bundleID: try #require(BundleID(rawValue: "com.example.App")), environment: .production,
                variant: Variant(rawValue: "de")), storagePolicy: .noMessageStored)
        var plan = try DeliveryPlan(Self.request(), audiences: [audience], now: Self.now)
        plan.warn(withoutPlace: [])
        #expect(plan.warnings.isEmpty)
        plan.warn(withoutPlace: [audience])
        #expect(plan.warnings.count == 1)
        #expect(plan.warnings[0].contains("com.example.App in production for variant de"))
        #expect(plan.warnings[0].contains("until \(RFC3339.text(plan.expiresAt))"))
    }
}
