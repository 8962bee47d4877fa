internal import APNsWire
internal import FoundationEssentials
internal import Testing

@testable internal import Grandstand

struct ForecastTests {
    private static func at(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    private static func span(
        _ opens: Double, _ closes: Double?, isHeld: Bool = false, needs: Double? = nil, yields: Double? = nil
    ) -> Forecast.Stay {
        Forecast.Stay(
            opensAt: at(opens), closesAt: closes.map(at), isHeld: isHeld, needsAt: needs.map(at),
            yieldsAt: yields.map(at))
    }

    /// The spans and the limit; then the peak, its time, and when the limit is first exceeded.
    static let forecasts: [(String, [Forecast.Stay], Int, Forecast)] = [
        (
            "the peak is where most spans overlap",
            [span(0, nil, isHeld: true), span(10, 30), span(20, 40), span(30, 50)], 100,
            Forecast(peak: 3, peakAt: at(20), exceedsAt: nil)
        ),
        (
            "the first time above the limit is found", [span(10, nil), span(20, nil), span(30, nil)], 2,
            Forecast(peak: 3, peakAt: at(30), exceedsAt: at(30))
        ),
        (
            "past spans do not count, and open ones count from now", [span(-20, -10), span(-5, nil)], 1,
            Forecast(peak: 1, peakAt: at(0), exceedsAt: nil)
        ),
        (
            "a held channel counts now, even if its times were moved", [span(50, 60, isHeld: true), span(20, 30)], 5,
            Forecast(peak: 2, peakAt: at(20), exceedsAt: nil)
        ),
        (
            "a held channel is freed at its time", [span(-20, -10, isHeld: true)], 0,
            Forecast(peak: 1, peakAt: at(0), exceedsAt: at(0))
        ),
        (
            "at the limit a channel takes a place that is yielded",
            [span(0, 90, isHeld: true, yields: 10), span(20, 90, needs: 20)], 1,
            Forecast(peak: 1, peakAt: at(0), exceedsAt: nil)
        ),
        (
            "but not before the place is yielded", [span(0, 90, isHeld: true, yields: 30), span(20, 90, needs: 20)], 1,
            Forecast(peak: 2, peakAt: at(20), exceedsAt: at(20))
        ),
        (
            "nor before the channel needs it",
            [span(0, 90, isHeld: true, yields: 10), span(20, 90, needs: 40), span(50, 90)], 1,
            Forecast(peak: 2, peakAt: at(20), exceedsAt: at(20))
        ),
        (
            "a place is taken once, and only at the limit",
            [
                span(0, 90, isHeld: true, yields: 10), span(20, 90, needs: 0), span(30, 90, needs: 0),
                span(40, 90, needs: 0),
            ], 2,
            Forecast(peak: 3, peakAt: at(40), exceedsAt: at(40))
        ),
    ]

    @Test func `a forecast has the peak of the spans, its time, and the first time above the limit`() {
        for (what, spans, limit, forecast) in Self.forecasts {
            #expect(Forecast(spans: spans, limit: limit, now: Self.at(0)) == forecast, "\(what)")
        }
    }
}

struct ChannelTenureTests {
    private let now = Date(timeIntervalSince1970: 0)
    private let tenure = ChannelTenure(retireAfter: 3_600 * 4, quietAfter: 3_600 * 48)

    private func hours(_ hours: Double) -> Date { Date(timeIntervalSince1970: hours * 3_600) }

    private func course(
        starts: Double? = nil, ends: Double? = nil, opens: Double? = nil, last: Double? = nil, over: Double? = nil
    ) -> ChannelTenure.Dates {
        ChannelTenure.Dates(
            createdAt: now, channelsOpenAt: opens.map(hours), startsAt: starts.map(hours), endsAt: ends.map(hours),
            lastMessageAt: last.map(hours), overAt: over.map(hours))
    }

    /// Twelve hours after `endsAt` or the last message; without `endsAt` after the quiet time, from the last activity.
    @Test func `an event without an end closes after its declared end or after the quiet time`() {
        for (course, closes) in [
            (course(ends: 2), 14.0), (course(ends: 2, last: 5), 17), (course(ends: 2, last: 1), 14), (course(), 48),
            (course(last: 5), 53), (course(starts: 100, last: 5), 148), (course(starts: 100, opens: 200), 248),
        ] { #expect(tenure.closesAt(course) == hours(closes)) }
    }

    @Test func `a place is free when nothing needs it any longer`() {
        func frees(
            _ course: ChannelTenure.Dates, hasAudience: Bool = true, stored: Bool = false, needed: Double? = nil,
            at: Double = 0
        ) -> Date {
            tenure.freesAt(
                course, hasAudience: hasAudience, storagePolicy: stored ? .mostRecentMessageStored : .noMessageStored,
                neededUntil: needed.map(hours), now: hours(at))
        }
        // The `end` is expected at `endsAt`. With `mostRecentMessageStored`, APNs stores it for eight hours.
        #expect(frees(course(ends: 2)) == hours(6))
        #expect(frees(course(ends: 2), stored: true) == hours(10))
        // If `endsAt` has passed, or there is none, the forecast expects no `end`. It assumes that no message follows,
        // and that the server closes the event. The place is free four hours after the server has closed the event, at
        // the earliest.
        #expect(frees(course(ends: 2), stored: true, at: 3) == hours(18))
        #expect(frees(course(), at: 3) == hours(52))
        #expect(frees(course(), needed: 60, at: 3) == hours(60))
        // Three cases of an event that is over, and one of a removed audience.
        #expect(frees(course(ends: 2, over: 1), at: 1) == hours(5))
        #expect(frees(course(ends: 2, over: 1), needed: 8, at: 1) == hours(8))
        #expect(frees(course(ends: 2, over: 1), at: 30) == hours(30))
        #expect(frees(course(ends: 90), hasAudience: false, at: 1) == hours(5))
    }

    @Test func `a place is needed an hour before the start, and yielded ten minutes after the end`() {
        func span(_ course: ChannelTenure.Dates, needed: Double? = nil) -> Forecast.Stay {
            tenure.span(
                course, storagePolicy: .noMessageStored, neededUntil: needed.map(hours), now: now.addingTimeInterval(60)
            )
        }
        let match = span(course(starts: 5, ends: 7))
        #expect(match.needsAt == hours(4))
        #expect(match.yieldsAt == hours(7).addingTimeInterval(600))
        #expect(match.closesAt == hours(11))
        // Without `startsAt` the event may start at any time.
        #expect(span(course(ends: 7)).needsAt == hours(-1))
        // A place is not yielded while a device needs the channel.
        #expect(span(course(over: 0), needed: 2).yieldsAt == hours(2))
    }
}
