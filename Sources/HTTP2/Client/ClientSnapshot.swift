/// The state of a connection for other threads: written by its loop before and after each flush.
struct ClientSnapshot: Sendable {
    var isUsable = false
    var streamsInUse = 0
    var streamLimit = 0
    var waiting = 0
    var goAway: GoAway?
    /// Nanoseconds of a steady clock.
    var lastRead: UInt64 = 0
    /// It ended because the peer gave no sign of life while answers were awaited.
    var fellSilent = false
}
