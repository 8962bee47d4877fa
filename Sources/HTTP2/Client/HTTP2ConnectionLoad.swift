/// How much a connection carries, read in one go: what a pool balances by.
package struct HTTP2ConnectionLoad: Sendable, Hashable {
    /// Connected, and takes requests: not draining, not closed.
    package var isUsable: Bool
    /// Streams that count for the peer.
    package var streamsInUse: Int
    /// Streams allowed now.
    package var streamLimit: Int
    /// Requests without a stream.
    package var waiting: Int

    /// For tests and stand-ins; real ones come from a connection.
    package init(isUsable: Bool = true, streamsInUse: Int, streamLimit: Int, waiting: Int = 0) {
        self.isUsable = isUsable
        self.streamsInUse = streamsInUse
        self.streamLimit = streamLimit
        self.waiting = waiting
    }

    /// Requests on it, with a stream or without.
    package var requests: Int { streamsInUse + waiting }

    /// Streams that a request could have at once; negative when more wait than there is room for.
    package var free: Int { streamLimit - requests }
}
