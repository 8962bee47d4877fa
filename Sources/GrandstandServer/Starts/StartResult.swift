internal import FoundationEssentials
internal import Grandstand

/// What a start becomes by the outcome of its push. Pure.
struct StartResult: Sendable, Hashable {
    let state: StartState
    /// Pushes that APNs is known not to have processed.
    let attempts: Int
    /// When the push is sent again; `nil`: the outcome is final.
    let dueAt: Date?
    let reason: String?

    /// - Parameters:
    ///   - verdict: `nil`: the push was not made, so it is due at once.
    ///   - attempts: the attempts before this push.
    init(_ verdict: TokenVerdict?, after attempts: Int, at now: Date) {
        if let verdict, let settled = StartState(verdict) {
            (state, self.attempts, dueAt, reason) = (settled, attempts, nil, verdict.reason)
        } else if case .retry(let time, _)? = verdict {
            (state, self.attempts, dueAt, reason) = (.pending, attempts + 1, time, nil)
        } else {
            (state, self.attempts, dueAt, reason) = (.pending, attempts, now, nil)
        }
    }

    /// APNs' reasons for refusing a push because of its token. Such a push started nothing, and an installation that
    /// has another token is tried again.
    static let tokenReasons = ["Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic"]
}
