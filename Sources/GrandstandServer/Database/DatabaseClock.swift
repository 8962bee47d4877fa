internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// This process's estimate of the database's clock. All replicas use this estimate for leases, for expiry, and for the
/// alignment of channels with events, so errors of their own clocks do not matter.
///
/// Between two readings the estimate advances with a monotonic clock, even while the database is away.
final class DatabaseClock: Sendable {
    /// A moment from which the monotonic clock is counted.
    private static let start = ContinuousClock.now

    /// Reads another clock by calling `ask`.
    ///
    /// - Parameter wall: this machine's wall clock, which people and NTP set.
    static func sample(_ wall: () -> Date, _ ask: () async throws -> Date) async rethrows -> ClockSample {
        let (sentAt, wallSentAt) = (start.duration(to: .now), wall())
        let told = try await ask()
        let (wallReceivedAt, receivedAt) = (wall(), start.duration(to: .now))
        return ClockSample(
            sentAt: sentAt, receivedAt: receivedAt, wallSentAt: wallSentAt,
            wallReceivedAt: wallReceivedAt, remoteTime: told)
    }

    private struct State {
        var estimate = ClockEstimate()
        var wallState = ClockStanding.right
        var skew: TimeInterval = 0
    }

    private let look: @Sendable () async throws -> ClockSample
    private let logger: Logger
    private let state = Mutex(State())
    /// The time of the monotonic clock's zero, in nanoseconds since 1970. The value is atomic, because it is read
    /// millions of times and a lock would be too slow.
    private let origin: Atomic<Int64>

    /// Until the first reading, the clock shows the time of this machine's wall clock.
    ///
    /// - Parameter look: reads the database's clock.
    init(
        wall: () -> Date, look: @escaping @Sendable () async throws -> ClockSample, logger: Logger
    ) {
        (self.look, self.logger) = (look, logger)
        origin = Atomic(Int64((wall().timeIntervalSince1970 - Self.start.duration(to: .now).seconds) * 1e9))
    }

    /// The database's time.
    var now: Date {
        let (seconds, attoseconds) = Self.start.duration(to: .now).components
        let nanoseconds = origin.load(ordering: .relaxed) + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        return Date(timeIntervalSince1970: Double(nanoseconds) / 1e9)
    }

    /// Whether work may be claimed. Work may not be claimed if the wall clock is so wrong that Apple would refuse
    /// provider tokens.
    var mayClaim: Bool { wallState != .unusable }

    /// Seconds by which the wall clock was ahead at the last reading.
    var skew: TimeInterval { state.withLock { $0.skew } }

    /// The state of the wall clock at the last reading.
    var wallState: ClockStanding { state.withLock { $0.wallState } }

    /// Reads the database's clock now.
    func measure() async throws {
        let sample = try await look()
        let lead = (sample.lead.lowerBound + sample.lead.upperBound) / 2
        let (before, standing) = state.withLock { state in
            state.estimate.add(sample)
            if let origin = state.estimate.offset { self.origin.store(Int64(origin * 1e9), ordering: .relaxed) }
            state.skew = lead
            let before = state.wallState
            state.wallState = ClockStanding(lead: sample.lead, before: before)
            return (before, state.wallState)
        }
        guard standing != before else { return }
        logger.log(
            level: standing == .right ? .notice : standing == .off ? .warning : .error,
            "this machine's clock is \(Self.words(lead)). Beyond 10 s nothing is sent until it is set by NTP")
    }

    /// A phrase that says by how much the wall clock is wrong.
    static func words(_ lead: TimeInterval) -> String {
        let seconds = (abs(lead) * 10).rounded() / 10
        return "\(seconds) s \(lead < 0 ? "behind" : "ahead of") the database's clock"
    }
}
