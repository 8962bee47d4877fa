internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// While the database is away, the time of leases stands still.
struct LeaseClockTests {
    private static let start = Date(timeIntervalSince1970: 1_795_300_000)

    private static func at(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }

    @Test func `as long as the database answers, it is the time`() {
        var clock = LeaseClock()
        #expect(clock.leasesOver(at: Self.at(0)) == Self.at(0))
        clock.answered(at: Self.at(0), lease: 6)
        #expect(clock.leasesOver(at: Self.at(5)) == Self.at(5))
        clock.answered(at: Self.at(100), lease: 6)
        #expect(clock.leasesOver(at: Self.at(100)) == Self.at(100))
    }

    @Test func `a lease that had four seconds left has them when the database is back`() {
        var clock = LeaseClock()
        clock.answered(at: Self.at(0), lease: 6)
        clock.failed()
        let end = Self.at(4)
        #expect(clock.leasesOver(at: Self.at(20)) < end)
        clock.answered(at: Self.at(30), lease: 6)
        #expect(clock.leasesOver(at: Self.at(33)) < end)
        #expect(clock.leasesOver(at: Self.at(34)) == end)
        // By then all that was leased before is over, and what is leased now has its own time.
        #expect(clock.leasesOver(at: Self.at(36)) == Self.at(36))
    }

    @Test func `an absence soon after another adds to it`() {
        var clock = LeaseClock()
        clock.answered(at: Self.at(0), lease: 6)
        clock.failed()
        clock.answered(at: Self.at(20), lease: 6)
        clock.failed()
        clock.answered(at: Self.at(22), lease: 6)
        #expect(clock.leasesOver(at: Self.at(23)) == Self.at(1))
        clock.answered(at: Self.at(40), lease: 6)
        clock.failed()
        clock.answered(at: Self.at(41), lease: 6)
        #expect(clock.leasesOver(at: Self.at(42)) == Self.at(41))
    }

    @Test func `a failure before the first answer stops nothing`() {
        var clock = LeaseClock()
        clock.failed()
        #expect(clock.leasesOver(at: Self.at(3)) == Self.at(3))
        clock.answered(at: Self.at(4), lease: 6)
        #expect(clock.leasesOver(at: Self.at(4)) == Self.at(4))
    }
}
