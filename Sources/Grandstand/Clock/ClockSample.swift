package import FoundationEssentials

/// One reading of another machine's clock, with this machine's clocks before the question and after the answer. The
/// other clock showed `remoteTime` at some moment between the question and the answer.
package struct ClockSample: Sendable, Hashable {
    /// The times of the question and the answer, by a monotonic clock.
    package var sentAt: Duration
    package var receivedAt: Duration
    /// The times of the question and the answer, by this machine's wall clock.
    package var wallSentAt: Date
    package var wallReceivedAt: Date
    /// The other clock's time.
    package var remoteTime: Date

    package init(
        sentAt: Duration, receivedAt: Duration, wallSentAt: Date, wallReceivedAt: Date, remoteTime: Date
    ) {
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.wallSentAt = wallSentAt
        self.wallReceivedAt = wallReceivedAt
        self.remoteTime = remoteTime
    }

    package var roundTrip: Duration { receivedAt - sentAt }

    /// The bounds of the other clock's time, in seconds since 1970, at the moment when the monotonic clock was zero.
    var offsets: ClosedRange<TimeInterval> {
        let told = remoteTime.timeIntervalSince1970
        return (told - receivedAt.seconds)...(told - min(sentAt, receivedAt).seconds)
    }

    /// The bounds of the seconds by which this machine's wall clock is ahead of the other clock.
    package var lead: ClosedRange<TimeInterval> {
        let (one, other) = (wallSentAt.timeIntervalSince(remoteTime), wallReceivedAt.timeIntervalSince(remoteTime))
        return min(one, other)...max(one, other)
    }
}

extension Duration {
    /// The duration in seconds.
    package var seconds: TimeInterval { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
