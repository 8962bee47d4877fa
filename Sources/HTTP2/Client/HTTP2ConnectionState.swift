/// The state of a client's connection, for a pool's decisions, with all values read together.
package struct HTTP2ConnectionState: Sendable, Hashable {
    /// Whether the connection accepts requests: it is connected, not draining and not closed.
    package var isUsable = false
    /// Whether `streamsProven()` was called.
    package var isProven = false
    /// The open streams, which count towards the peer's SETTINGS_MAX_CONCURRENT_STREAMS.
    package var streamsInUse = 0
    /// The maximum number of streams at present: the lower of the peer's limit and our own.
    package var streamLimit = 0
    /// The requests without a stream, including those that the connection's event loop has not seen yet.
    package var waiting = 0
    /// The peer's GOAWAY, if it sent one.
    package var goAway: HTTP2GoAway?
    /// When bytes last came from the peer, in nanoseconds of a monotonic clock.
    package var lastRead: UInt64 = 0
    /// Whether the connection ended because the peer sent nothing while answers were awaited, not even after a PING.
    package var fellSilent = false

    /// A connection that is not open yet.
    package init() {}

    /// The requests on the connection, with or without a stream.
    package var requests: Int { streamsInUse + waiting }

    /// The number of requests that would get a stream at once; negative if more are waiting than there is room for.
    package var free: Int { streamLimit - requests }
}
