package import FoundationEssentials

/// When a message that a receiver did not accept is posted again: soon at first, then over days, as Standard Webhooks
/// advises.
package struct WebhookSchedule: Sendable, Hashable {
    /// Seconds before the second try, the third and so on. There is one more try than delays.
    package var delays: [Double]

    package init(delays: [Double]) { self.delays = delays }

    /// Ten tries within about three days.
    package static let standard = WebhookSchedule(
        delays: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400])

    /// The longest wait that a receiver can ask for, in seconds.
    package static let longestWait: Double = 86_400

    /// The moment of the next try after `tries` failed tries (at least 1); `nil` when no try is left.
    ///
    /// - Parameters:
    ///   - retryAfter: seconds that the receiver asked for; it never shortens the wait.
    ///   - jitter: a random number in 0..<1. It makes the delay 0.8 to 1.2 times the delay of the schedule, so that
    ///     messages which failed together do not come back together.
    package func nextTry(after tries: Int, now: Date, retryAfter: Int? = nil, jitter: Double) -> Date? {
        let index = max(tries, 1) - 1
        guard delays.indices.contains(index) else { return nil }
        let delay = delays[index] * (0.8 + 0.4 * jitter)
        return now.addingTimeInterval(max(delay, min(Double(retryAfter ?? 0), Self.longestWait)))
    }
}
