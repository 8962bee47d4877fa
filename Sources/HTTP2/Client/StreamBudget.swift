/// Decides how many streams may be open, and whether one more may start.
struct StreamBudget {
    /// Our own limit, which also applies if the peer sets none.
    let cap: Int
    /// The most streams until the peer has accepted a request's credentials (1 for APNs; docs/internals/apns.md 6).
    let initial: Int
    /// The peer's present SETTINGS_MAX_CONCURRENT_STREAMS; 0 before its first SETTINGS.
    var peerLimit = 0
    var isProven = false
    /// The submitted body bytes that are not yet in a DATA frame.
    var unsent = 0

    /// The most streams now. It may be below the number in use after the peer lowered its limit.
    var limit: Int { max(0, min(peerLimit, cap, isProven ? cap : initial)) }

    /// Whether a request with this many body bytes may start now.
    ///
    /// A request waits until a stream is free and the connection's send window (`window`) has room for its body and for
    /// the unsent bodies of the requests that have started. A request that has started but cannot send would block
    /// others and could not be repeated safely. A body larger than any window is sent when no other body is being sent.
    ///
    /// - Parameter inUse: the streams that the peer counts: from the submission of the request until nghttp2 reports
    ///   the stream as closed.
    func admits(body: Int, inUse: Int, window: Int) -> Bool {
        guard inUse < limit else { return false }
        guard body > 0 else { return true }
        return window > 0 && (unsent == 0 || unsent + body <= window)
    }
}
