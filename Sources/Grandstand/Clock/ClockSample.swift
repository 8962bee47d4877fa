package import FoundationEssentials

/// One look at another machine's clock: what it said, and how our own clocks stood before it was asked and after it had
/// answered. What it said was true at some moment in between.
package struct ClockSample: Sendable, Hashable {
    /// By a monotonic clock.
    package var sentAt: Duration
    package var receivedAt: Duration
    /// Of this machine's wall clock.
    package var wallSentAt: Date
    package var wallReceivedAt: Date
    /// The other clock's time.
    package var told: Date

    package init(
        sentAt: Duration, receivedAt: Duration, wallSentAt: Date, wallReceivedAt: Date, told: Date
    ) {
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.wallSentAt = wallSentAt
        self.wallReceivedAt = wallReceivedAt
        self.told = told
    }

    package var roundTrip: Duration { receivedAt - sentAt }

    /// The bounds of the other clock's time, in seconds since 1970, when the steady one stood at zero.
    var origins: ClosedRange<TimeInterval> {
        let told = told.timeIntervalSince1970
        return (told - receivedAt.inSeconds)...(told - min(sentAt, receivedAt).inSeconds)
    }

    /// Seconds this machine's wall clock is ahead of the other clock: within these.
    package var lead: ClosedRange<TimeInterval> {
        let (one, other) = (wallSentAt.timeIntervalSince(told), wallReceivedAt.timeIntervalSince(told))
        return min(one, other)...max(one, other)
    }
}

extension Duration {
    /// In seconds.
    var inSeconds: TimeInterval { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
