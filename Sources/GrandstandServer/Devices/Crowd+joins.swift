internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension CrowdStore {
    /// The maximum number of late members in one shard. It is limited, because a message of the lane waits as long as
    /// the shard takes.
    private static let joinSize = 500

    /// Leases lanes for late members, and takes one shard of each.
    func joins(
        _ claim: LaneClaim, size: @Sendable (BundleID) -> Int, avoiding: [BundleID]
    ) async throws -> [CrowdShard] {
        try await database.transaction { connection in
            let due: [Int] = try await connection.query(CrowdJoins.lock(claim, avoiding)).map { try $0.decode("id") }
            guard !due.isEmpty else { return [] }
            // An acceptance or withdrawal locks all lanes of an audience. So while the crowd's lane is locked, the lead
            // of the crowd's lane does not change.
            let leads = try await CrowdJoins.leads(of: due, on: connection)
            let ids = Set(due).union(leads.values).sorted()
            let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.loadLocked("\(ids)")))
            var lanes = loaded
            let places = Dictionary(uniqueKeysWithValues: zip(lanes.lazy.map(\.id), lanes.indices))
            var shards: [CrowdShard] = []
            for lane in due {
                guard let place = places[lane] else { continue }
                let lead = leads[lane].flatMap { places[$0] }.map { lanes[$0] }
                if let shard = try await Self.join(
                    &lanes[place], lead, claim, size: min(size(lanes[place].audience.bundleID), Self.joinSize),
                    on: connection)
                {
                    shards.append(shard)
                }
            }
            let changed = zip(lanes, loaded).filter { $0 != $1 }
            try await connection.pipeline(
                LaneRows.write(changed.map(\.0), loaded: changed.map(\.1), at: claim.at))
            return shards
        }
    }

    /// The shard of one lane; `nil`: there is nothing to send, or the lane has something more urgent to do.
    ///
    /// - Parameter lead: the lead of the lane's audience; `nil`: the audience was removed.
    private static func join(
        _ lane: inout Lane, _ lead: Lane?, _ claim: LaneClaim, size: Int, on connection: PostgresConnection
    ) async throws -> CrowdShard? {
        guard let lead, lane.closedAt == nil,
            let news = try await CrowdNews.read(lane: lane, lead: lead, now: claim.at, on: connection)
        else {
            try await connection.query(CrowdJoins.forget(lane.id, claim))
            return nil
        }
        guard lane.lease(for: claim) else { return nil }
        let due = try await CrowdJoins.members(of: lane.id, claim, size: size, on: connection)
        // If a message waits on the lane, for example for the lane's interval, one of its shards will reach these
        // members.
        let reached = due.filter { lane.reaches($0.activity) }
        if !reached.isEmpty {
            try await connection.query(CrowdJoins.postponed(reached, of: lane.id, now: claim.at))
        }
        let members = due.filter { !lane.reaches($0.activity) }
        guard !members.isEmpty else {
            lane.release(by: claim.replica, at: claim.at)
            return nil
        }
        try await connection.query(CrowdNews.show(news.broadcast))
        return CrowdShard(
            delivery: nil, lane: lane.id, address: news.address, requestID: .drawn(), body: news.body,
            priority: news.priority, rings: false,
            expiration: Int(news.expiresAt.timeIntervalSince1970.rounded(.up)), number: 0, expiresAt: news.expiresAt,
            members: members, step: .emptyQueue)
    }
}
