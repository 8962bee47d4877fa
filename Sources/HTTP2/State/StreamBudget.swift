/// How many streams may be open, and whether one more should be.
struct StreamBudget {
    /// Our own cap: what a peer that names no limit gets.
    let cap: Int
    /// Streams allowed until the peer answered a request with credentials it accepts (1 for APNs;
    /// docs/internals/apns.md 6).
    let initial: Int
    /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS as it stands; nothing is allowed before the first SETTINGS.
    var peerLimit = 0
    var isProven = false
    /// Streams that count for the peer: from the request handed over until nghttp2 says the stream is closed.
    var inUse = 0
    /// Body bytes handed over and not yet in a DATA frame.
    var unsent = 0

    /// Streams allowed now; may be below `inUse` after the peer lowered its limit.
    var limit: Int { max(0, min(peerLimit, cap, isProven ? cap : initial)) }

    /// Whether a request with that many body bytes may start now.
    ///
    /// A request waits not only for a stream but until the connection's send window (`window`) has room for its body
    /// beside those already started: one that is started and cannot move starves others of their turn, and can't be
    /// replayed safely. A body larger than any window goes when nothing else is being sent.
    func admits(body: Int, window: Int) -> Bool {
        guard inUse < limit else { return false }
        guard body > 0 else { return true }
        return window > 0 && (unsent == 0 || unsent + body <= window)
    }
}
