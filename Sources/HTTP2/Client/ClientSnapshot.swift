/// What other threads may know of a connection: written by its loop before and after each flush.
struct ClientSnapshot: Sendable {
    var isUsable = false
    var streamsInUse = 0
    var streamLimit = 0
    var waiting = 0
    var goAway: GoAway?
}
