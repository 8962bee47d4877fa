/// The state of a connection for other threads. The loop writes it before and after each flush.
struct ClientSnapshot: Sendable {
    var isUsable = false
    var streamsInUse = 0
    var streamLimit = 0
    var waiting = 0
    var goAway: GoAway?
    /// When bytes last came from the peer, in nanoseconds of a monotonic clock.
    var lastRead: UInt64 = 0
    /// Whether the connection ended because the peer sent nothing while answers were awaited.
    var fellSilent = false
}
