/// The load of a connection for a pool's decisions, with all values read together.
package struct HTTP2ConnectionLoad: Sendable, Hashable {
    /// Whether the connection accepts requests: it is connected, not draining and not closed.
    package var isUsable: Bool
    /// The open streams, which count towards the peer's SETTINGS_MAX_CONCURRENT_STREAMS.
    package var streamsInUse: Int
    /// The maximum number of streams at present.
    package var streamLimit: Int
    /// Requests without a stream.
    package var waiting: Int

    /// A connection makes its load with this. Other code needs this only in tests.
    package init(isUsable: Bool = true, streamsInUse: Int, streamLimit: Int, waiting: Int = 0) {
        self.isUsable = isUsable
        self.streamsInUse = streamsInUse
        self.streamLimit = streamLimit
        self.waiting = waiting
    }

    /// The requests on the connection, with or without a stream.
    package var requests: Int { streamsInUse + waiting }

    /// The number of requests that would get a stream at once; negative if more are waiting than there is room for.
    package var free: Int { streamLimit - requests }
}
