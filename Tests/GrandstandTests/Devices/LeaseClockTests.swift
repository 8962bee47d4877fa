internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The clock of leases stands still while the database cannot be reached.
struct LeaseClockTests {
    private static let start = Date(timeIntervalSince1970: 1_795_300_000)

    private static func at(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }

    @Test func `a lease with four seconds left still has them when the database is back`() {
        var clock = LeaseClock()
        clock.answered(at: Self.at(0), lease: 6)
        clock.failed()
        let end = Self.at(4)
        #expect(clock.leasesEndedBefore(at: Self.at(20)) < end)
        clock.answered(at: Self.at(30), lease: 6)
        #expect(clock.leasesEndedBefore(at: Self.at(33)) < end)
        #expect(clock.leasesEndedBefore(at: Self.at(34)) == end)
        // One lease duration after the outage, every lease has been extended or has ended, so the clock shows the real
        // time again.
        #expect(clock.leasesEndedBefore(at: Self.at(36)) == Self.at(36))
    }

    @Test func `a second outage soon after the first adds to the delay`() {
        var clock = LeaseClock()
        clock.answered(at: Self.at(0), lease: 6)
        clock.failed()
        clock.answered(at: Self.at(20), lease: 6)
        clock.failed()
        clock.answered(at: Self.at(22), lease: 6)
        #expect(clock.leasesEndedBefore(at: Self.at(23)) == Self.at(1))
        clock.answered(at: Self.at(40), lease: 6)
        clock.failed()
        clock.answered(at: Self.at(41), lease: 6)
        #expect(clock.leasesEndedBefore(at: Self.at(42)) == Self.at(41))
    }

    @Test func `a failure before the first answer does not stop the clock`() {
        var clock = LeaseClock()
        clock.failed()
        #expect(clock.leasesEndedBefore(at: Self.at(3)) == Self.at(3))
        clock.answered(at: Self.at(4), lease: 6)
        #expect(clock.leasesEndedBefore(at: Self.at(4)) == Self.at(4))
    }
}
