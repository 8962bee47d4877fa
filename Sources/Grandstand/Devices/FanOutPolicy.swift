package import FoundationEssentials

/// The two kinds of fan-out to tokens. A Postgres type has the same words. Both use one engine: it goes through the
/// members in order, shard by shard; members that come later wait in a queue. Each shard is leased, pushed and settled.
package enum FanOutPolicy: String, Sendable, Hashable, CaseIterable {
    /// Starts activities. A push is recorded before it is sent, and not repeated once APNs may have it. Members that
    /// join later get the start.
    case start
    /// Updates and ends activities. A push is repeated with the same timestamp and request ID, which changes nothing on
    /// a device. Members that join later get the newest state.
    case update

    /// When a push is sent again, and how many attempts it has had by now; `nil`: its outcome is final. A push that was
    /// not sent is due at once.
    ///
    /// - Parameters:
    ///   - verdict: `nil`: the push was not sent.
    ///   - attempts: the attempts before this push.
    package func again(
        _ verdict: TokenVerdict?, after attempts: Int, at now: Date, jitter: Double
    ) -> (attempts: Int, at: Date)? {
        switch verdict {
        case nil: (attempts, now)
        case .retry(let time, _): (attempts + 1, time)
        case .unknown where self == .update:
            (attempts + 1, RetryPolicy.broadcasts.nextAttempt(after: attempts + 1, now: now, jitter: jitter))
        case .accepted, .unknown, .rejected, .expired, .gone, .suspect: nil
        }
    }
}
