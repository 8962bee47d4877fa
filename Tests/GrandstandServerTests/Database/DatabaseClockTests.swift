internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct DatabaseClockTests {
    /// Two clocks that a test sets, in seconds relative to the real time.
    private final class Clocks: Sendable {
        private let leads = Mutex((wall: 0.0, database: 0.0))

        var wall: Date { Date().addingTimeInterval(leads.withLock { $0.wall }) }
        var database: Date { Date().addingTimeInterval(leads.withLock { $0.database }) }

        func set(wall: Double? = nil, database: Double? = nil) {
            leads.withLock { $0 = (wall ?? $0.wall, database ?? $0.database) }
        }
    }

    private static func clock(_ clocks: Clocks) -> DatabaseClock {
        DatabaseClock(
            wall: { clocks.wall }, look: { await DatabaseClock.sample({ clocks.wall }) { clocks.database } },
            logger: LoopSample.logger)
    }

    /// Takes a sample, and returns how long it took. The estimate is not further off.
    private static func measure(_ clock: DatabaseClock) async throws -> TimeInterval {
        let start = Date()
        try await clock.measure()
        return Date().timeIntervalSince(start) + 0.001
    }

    private static func expect(_ clock: DatabaseClock, within error: TimeInterval, of clocks: Clocks) {
        let earliest = clocks.database - error
        let now = clock.now
        #expect(earliest <= now && now <= clocks.database + error)
    }

    @Test func `the time is the database's, however the wall clock is set`() async throws {
        let clocks = Clocks()
        clocks.set(wall: -20, database: 100)
        let clock = Self.clock(clocks)
        let error = try await Self.measure(clock)
        Self.expect(clock, within: error, of: clocks)
        clocks.set(wall: 86_400)
        Self.expect(clock, within: error, of: clocks)
        // From now on another database answers. The clock of its machine differs.
        clocks.set(database: -7)
        Self.expect(clock, within: try await Self.measure(clock), of: clocks)
    }

    @Test func `a wall clock that is far off stops claims until it is right again`() async throws {
        let clocks = Clocks()
        let clock = Self.clock(clocks)
        var standings: [ClockStanding] = []
        var claims: [Bool] = []
        for lead in [0.0, 5, -30, -5, 0] {
            clocks.set(wall: lead)
            try await clock.measure()
            standings.append(clock.wallState)
            claims.append(clock.mayClaim)
            #expect(clock.skew.rounded() == lead)
        }
        #expect(standings == [.right, .off, .unusable, .off, .right])
        #expect(claims == [true, true, false, true, true])
    }
}
