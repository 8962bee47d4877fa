/// Effects of APNs on a connection besides its answers.
enum ConnectionEffect: Sendable, Hashable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    case maximumStreams(Int)
    /// GOAWAY with `{"reason":…}`; all that has come is still answered.
    case goAway(reason: String, code: UInt32)
}
