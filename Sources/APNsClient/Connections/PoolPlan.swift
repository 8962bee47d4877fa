internal import HTTP2

/// The next steps of a pool, decided from the load of its connections. Knows neither sockets nor clocks.
struct PoolPlan {
    /// Connections there are as soon as requests come side by side.
    let target: Int
    /// The most under load.
    let bound: Int

    /// Requests on a connection from which on another one helps: APNs' windows hold about a hundred messages
    /// (docs/internals/http2.md).
    static let full = 100

    init(target: Int, bound: Int) {
        self.target = target
        self.bound = max(target, bound)
    }

    /// The known state of a connection.
    struct Member: Equatable {
        var load: HTTP2ConnectionLoad
        /// APNs accepted a token on it: until then it has one stream, and says nothing about how much it could carry.
        var isProven: Bool
    }

    /// The connection for the next request: of those with a free stream the one that carries least; else the one whose
    /// line is shortest.
    ///
    /// - Parameters:
    ///   - avoided: the connection that just refused the request; taken only when there is no other.
    ///   - turn: the number of the request: of connections that carry the same, another is taken each time, so that a
    ///     limit of APNs by connection is not met by one alone.
    func choose(_ members: [Member], avoiding avoided: Int? = nil, turn: Int = 0) -> Int? {
        var best: Int?
        for offset in members.indices {
            let index = (offset + turn) % members.count
            let member = members[index]
            guard member.load.isUsable else { continue }
            guard let chosen = best else {
                best = index
                continue
            }
            let isBetter =
                chosen == avoided || index == avoided
                ? chosen == avoided : Self.isBetter(member.load, than: members[chosen].load)
            if isBetter { best = index }
        }
        return best
    }

    private static func isBetter(_ one: HTTP2ConnectionLoad, than other: HTTP2ConnectionLoad) -> Bool {
        switch (one.free > 0, other.free > 0) {
        case (true, true): one.requests < other.requests
        case (false, false): one.free > other.free
        case (let hasRoom, _): hasRoom
        }
    }

    /// Whether one more connection should be opened now.
    ///
    /// - Parameters:
    ///   - opening: connections on their way.
    ///   - waiters: requests that have none to go to.
    func wantsOneMore(_ members: [Member], opening: Int, waiters: Int) -> Bool {
        let usable = members.filter(\.load.isUsable)
        let count = usable.count + opening
        if count == 0 { return true }
        if count < target {
            return waiters > opening || opening == 0 && usable.allSatisfy { $0.load.requests > 0 }
        }
        // One at a time, and only when all have shown what they can carry.
        return count < bound && opening == 0
            && usable.allSatisfy { $0.isProven && ($0.load.requests >= Self.full || $0.load.free <= 0) }
    }
}
