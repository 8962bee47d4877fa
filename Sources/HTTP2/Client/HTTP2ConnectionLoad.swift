/// The load of a connection for a pool's decisions, with all values read together.
package struct HTTP2ConnectionLoad: Sendable, Hashable {
    /// Whether it accepts requests: connected, not draining, not closed.
    package var isUsable: Bool
    /// The streams that the peer counts.
    package var streamsInUse: Int
    /// The most streams now.
    package var streamLimit: Int
    /// Requests without a stream.
    package var waiting: Int

    /// For tests; otherwise a connection makes it.
    package init(isUsable: Bool = true, streamsInUse: Int, streamLimit: Int, waiting: Int = 0) {
        self.isUsable = isUsable
        self.streamsInUse = streamsInUse
        self.streamLimit = streamLimit
        self.waiting = waiting
    }

    /// The requests on it, with or without a stream.
    package var requests: Int { streamsInUse + waiting }

    /// The number of requests that would get a stream at once; negative if more are waiting than there is room for.
    package var free: Int { streamLimit - requests }
}
