internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension EventStore {
    /// Moves the messages that wait on an audience's lane to the audience's crowd, unless the crowd already has them.
    /// The audience is reached by tokens from now on, so the crowd's lane becomes the lead (`Lane.lead`). First it
    /// takes over the newest content and timestamp of the audience's own lane. That lane stays for a later channel, and
    /// follows the lead (`Lane.follow`).
    static func handOver(_ lane: Int, of key: String, now: Date, on connection: PostgresConnection) async throws {
        let found = try await connection.query(
            """
            select lane from audience_lanes
            where event_key = \(key) and audience_lane = \(lane) and is_lead and lane <> audience_lane
            """)
        guard let crowd: Int = try found.first?.decode("lane") else { return }
        let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.load("\([lane, crowd])")))
        var lanes = loaded
        guard let own = lanes.firstIndex(where: { $0.id == lane }),
            let lead = lanes.firstIndex(where: { $0.id == crowd })
        else { return }
        lanes[lead].follow(lanes[own])
        let waiting = try await missing(lanes[own].retireToTokens(at: now), on: crowd, now: now, connection)
        lanes[lead].takeOver(waiting.messages, refusing: waiting.tooLarge, requestID: UUID.drawn, at: now)
        lanes[lead].judgeExpirations(waiting.headers)
        let new = lanes[lead].messages.filter { $0.id == nil }
        try await connection.pipeline(
            (new.isEmpty ? [] : [LaneRows.insert(new.map { DeliveryRow($0, of: lanes[lead]) })])
                + LaneRows.write(lanes, loaded: loaded, at: now)
                + [WakeUps.wake([lanes[lead].topic])])
    }

    /// After the audiences have changed: makes the other lanes of each audience take over content, end and timestamp
    /// from the lane that leads (`Lane.follow`). An audience that was added or moved up may have taken over a crowd of
    /// its app from another audience (`AudienceColumns.ofCrowd`); the crowd then belongs to this audience. If an
    /// audience is reached by tokens, its crowd leads the audience's own lane. The lanes must be locked.
    static func alignLanes(of key: String, now: Date, on connection: PostgresConnection) async throws {
        try await connection.query(CrowdRows.follow(of: key))
        var leads: [Int: Int] = [:]
        var followers: [(lane: Int, audience: Int)] = []
        for row in try await connection.query(
            "select audience_lane, lane, is_lead from audience_lanes where event_key = \(key) order by lane")
        {
            let (audience, lane): (Int, Int) = (try row.decode("audience_lane"), try row.decode("lane"))
            if try row.decode("is_lead") { leads[audience] = lane } else { followers.append((lane, audience)) }
        }
        guard !followers.isEmpty else { return }
        let ids = Set(followers.map(\.lane) + followers.compactMap { leads[$0.audience] }).sorted()
        let loaded = try LaneRows.lanes(try await connection.pipeline(LaneRows.load("\(ids)")))
        var lanes = loaded
        let places = Dictionary(uniqueKeysWithValues: zip(lanes.lazy.map(\.id), lanes.indices))
        let pairs = followers.compactMap { lane, audience in
            leads[audience].flatMap { lead in places[lead].flatMap { lead in places[lane].map { (lead, $0) } } }
        }
        for (lead, follower) in pairs { lanes[lead].lead(lanes[follower]) }
        for (lead, follower) in pairs { lanes[follower].follow(lanes[lead]) }
        let changed = zip(lanes, loaded).filter { $0 != $1 }
        try await connection.pipeline(LaneRows.write(changed.map(\.0), loaded: changed.map(\.1), at: now))
    }

    /// Messages that a crowd's lane does not have yet.
    private struct Waiting {
        var messages: [LaneMessage] = []
        /// Broadcasts that are too large for tokens.
        var tooLarge: Set<UUID> = []
        /// `apns-expiration` where organisers set it, by broadcast.
        var headers: [UUID: Int] = [:]
    }

    private static func missing(
        _ messages: [LaneMessage], on crowd: Int, now: Date, _ connection: PostgresConnection
    ) async throws -> Waiting {
        var waiting = Waiting()
        let rows = try await connection.query(
            """
            select id, \(BroadcastRows.content), apns_expiration from broadcasts b where id = any(\(messages.map(\.broadcast)))
                and not exists (select from deliveries where broadcast_id = b.id and lane = \(crowd))
            """)
        var known: Set<UUID> = []
        for row in rows {
            let id: UUID = try row.decode("id")
            known.insert(id)
            waiting.headers[id] = try row.decode(Int?.self, "apns_expiration")
            let size = try row.content().payload.body(timestamp: Int(now.timeIntervalSince1970)).count
            if size > Lane.Kind.crowd.bodyLimit { waiting.tooLarge.insert(id) }
        }
        waiting.messages = messages.filter { known.contains($0.broadcast) }
        return waiting
    }
}
