internal import FoundationEssentials
internal import Testing

@testable internal import Grandstand

struct ClockEstimateTests {
    private let start = Date(timeIntervalSince1970: 1_700_000_000)

    /// A reading of the other clock. The request was sent at `sent` seconds of the steady clock, and the round trip
    /// took `trip` seconds. The other clock is `ahead` seconds ahead of the wall clock, which agrees with the steady
    /// clock. The answer was made after `share` of the round trip.
    private func look(at sent: Double, trip: Double, ahead: Double = 0, share: Double = 0.5) -> ClockSample {
        ClockSample(
            sentAt: .seconds(sent), receivedAt: .seconds(sent + trip), wallSentAt: start.addingTimeInterval(sent),
            wallReceivedAt: start.addingTimeInterval(sent + trip),
            remoteTime: start.addingTimeInterval(sent + trip * share + ahead))
    }

    /// The error of the estimate.
    private func error(_ estimate: ClockEstimate, ahead: Double = 0) throws -> Double {
        abs(try #require(estimate.offset) - (1_700_000_000 + ahead))
    }

    @Test func `before the first answer nothing is known, and afterwards the error is at most half a round trip`()
        throws
    {
        var estimate = ClockEstimate()
        #expect(estimate.offset == nil)
        for share in [0.0, 0.3, 1] {
            estimate = ClockEstimate()
            estimate.add(look(at: 5, trip: 0.2, ahead: 7, share: share))
            #expect(try error(estimate, ahead: 7) <= 0.1 + 1e-6)
        }
    }

    @Test func `the answer with the shortest round trip is used, until it is too old`() throws {
        var estimate = ClockEstimate()
        estimate.add(look(at: 0, trip: 1, share: 0))
        estimate.add(look(at: 2, trip: 0.002, share: 0))
        for n in 0..<(ClockEstimate.maxSamples - 1) { estimate.add(look(at: Double(4 + 2 * n), trip: 1, share: 0)) }
        #expect(try error(estimate) <= 0.001 + 1e-6)
        estimate.add(look(at: 100, trip: 1, share: 0))
        #expect(try error(estimate) > 0.4)
    }

    @Test(arguments: [-3_600.0, -0.5, 0.5, 20])
    func `a clock that was set, or another machine's clock, counts at once`(by seconds: Double) throws {
        var estimate = ClockEstimate()
        for n in 0..<8 { estimate.add(look(at: Double(n), trip: 0.001)) }
        estimate.add(look(at: 10, trip: 0.1, ahead: seconds))
        #expect(try error(estimate, ahead: seconds) <= 0.05 + 1e-6)
    }

    @Test func `the wall clock's lead is reported only as far as the round trip makes it certain`() {
        let behind = look(at: 3, trip: 0.4, ahead: 5)
        #expect(behind.lead.lowerBound <= -5 && behind.lead.upperBound >= -5)
        #expect(ClockStanding(lead: behind.lead) == .off)
        // The request took longer than the difference between the clocks, so nothing is certain.
        #expect(ClockStanding(lead: look(at: 3, trip: 6, ahead: 2.5).lead) == .right)
        // The wall clock was set back before the answer came.
        let odd = ClockSample(
            sentAt: .zero, receivedAt: .seconds(1), wallSentAt: start.addingTimeInterval(20), wallReceivedAt: start,
            remoteTime: start)
        #expect(ClockStanding(lead: odd.lead) == .right)
    }

    /// The standing before; then a lead and the standing after it.
    @Test(
        arguments: [
            (.right, 0, .right), (.right, 1.9, .right), (.right, 2.1, .off), (.right, 10, .off),
            (.right, 10.1, .unusable),
            (.right, 3_600, .unusable), (.off, 1.9, .off), (.off, 1.7, .right), (.unusable, 9.5, .unusable),
            (.unusable, 8.9, .off), (.unusable, 1.7, .right),
        ] as [(ClockStanding, Double, ClockStanding)])
    func `more than 2 s are reported, more than 10 s are unusable, and near a limit the result does not change often`(
        before: ClockStanding, seconds: Double, standing: ClockStanding
    ) {
        #expect(ClockStanding(lead: seconds...seconds, before: before) == standing)
        #expect(ClockStanding(lead: -seconds...(-seconds), before: before) == standing)
    }
}
