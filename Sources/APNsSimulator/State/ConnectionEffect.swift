/// Effects on a connection in addition to the answers.
enum ConnectionEffect: Sendable, Hashable {
    /// The client gets SETTINGS with this value of SETTINGS_MAX_CONCURRENT_STREAMS.
    case maximumStreams(Int)
    /// The client gets GOAWAY with `{"reason":…}`. All requests that have arrived are still answered.
    case goAway(reason: String, code: UInt32)
}
