internal import HTTP2

/// Decides the next steps of a pool from the states of its connections. It is a pure value without sockets and clocks.
struct PoolPlan {
    /// The normal number of connections. Up to this number, the pool opens another connection if requests wait for one,
    /// or if every connection has a request, even if none is full.
    let target: Int
    /// The most connections under load.
    let bound: Int

    /// The number of requests on a connection above which another connection helps. APNs' windows hold about a hundred
    /// messages (docs/internals/http2.md).
    static let full = 100

    init(target: Int, bound: Int) {
        self.target = target
        self.bound = max(target, bound)
    }

    /// The connection for the next request: the least loaded of those with a free stream, otherwise the one with the
    /// fewest waiting requests.
    ///
    /// - Parameters:
    ///   - avoided: the connection of the previous try. It is used only if there is no other.
    ///   - turn: the number of the request. Connections with equal load take turns, so that a limit that APNs has for
    ///     each connection does not always affect the same connection.
    func choose(_ members: [HTTP2ConnectionState], avoiding avoided: Int? = nil, turn: Int = 0) -> Int? {
        var best: Int?
        for offset in members.indices {
            let index = (offset + turn) % members.count
            guard members[index].isUsable else { continue }
            guard let chosen = best else {
                best = index
                continue
            }
            let isBetter =
                chosen == avoided || index == avoided
                ? chosen == avoided : Self.isBetter(members[index], than: members[chosen])
            if isBetter { best = index }
        }
        return best
    }

    private static func isBetter(_ one: HTTP2ConnectionState, than other: HTTP2ConnectionState) -> Bool {
        switch (one.free > 0, other.free > 0) {
        case (true, true): one.requests < other.requests
        case (false, false): one.free > other.free
        case (let hasRoom, _): hasRoom
        }
    }

    /// Whether one more connection should be opened now.
    ///
    /// - Parameters:
    ///   - opening: the connections that are being opened.
    ///   - waiters: the requests without a connection.
    func wantsOneMore(_ members: [HTTP2ConnectionState], opening: Int, waiters: Int) -> Bool {
        let usable = members.filter(\.isUsable)
        let count = usable.count + opening
        if count == 0 { return true }
        if count < target {
            return waiters > opening || opening == 0 && usable.allSatisfy { $0.requests > 0 }
        }
        // Above the normal number, connections are opened one at a time, and only when APNs has accepted a token on
        // every existing connection and all of them are full. Before APNs accepts a token, a connection has only one
        // stream, so its load says nothing about its capacity.
        return count < bound && opening == 0
            && usable.allSatisfy { $0.isProven && ($0.requests >= Self.full || $0.free <= 0) }
    }
}
