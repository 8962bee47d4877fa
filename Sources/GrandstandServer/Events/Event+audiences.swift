internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Updates an event's audiences, their lanes and their channels when the event is declared again.
extension EventStore {
    /// Writes the rows of `audiences` as the specification has them.
    ///
    /// - Returns: the apps of the audiences before and after, the audiences that get another channel, and warnings
    ///   about audiences that lose their channel.
    static func writeAudiences(
        _ specification: EventSpecification, isNew: Bool, now: Date, on connection: PostgresConnection
    ) async throws -> (apps: Set<BundleID>, moved: [Audience], warnings: [String]) {
        let key = specification.key.rawValue
        let rows = try await connection.query(
            "select \(AudienceColumns.all), lane from audiences where event_key = \(key) order by position")
        let declared = try rows.map { try AudienceColumns.audience($0) }
        var present: [Audience.ID: (audience: Audience, lane: Int)] = [:]
        for (row, audience) in zip(rows, declared) { present[audience.id] = (audience, try row.decode("lane")) }
        let wanted = specification.audiences
        if !isNew, declared != wanted { try await lockLanes(of: key, on: connection) }
        let removed = Set(present.keys).subtracting(wanted.map(\.id))
        var warnings = try await remove(
            removed.compactMap { present[$0] }.map(\.lane),
            apps: Set(removed.map(AppEnvironment.init)).subtracting(wanted.map(\.app)), now: now, on: connection)
        var moved: [Audience] = []
        for (position, audience) in wanted.enumerated() {
            guard let (before, lane) = present[audience.id] else {
                try await add(audience, to: key, at: position, isNew: isNew, now: now, on: connection)
                continue
            }
            var lost: String?
            if before != audience {
                try await LaneRows.change("\([lane])", at: now, on: connection) { lane in
                    lost = lane.channel?.channelID
                    lane.change(audience, at: now)
                }
            }
            try await write(audience, of: key, at: position, to: lane, on: connection)
            guard before != audience else { continue }
            if audience.delivery == .channel, before.storagePolicy != audience.storagePolicy, let lost {
                warnings.append(audience.warning(lost: lost))
            }
            // A change of priority needs no other channel.
            guard audience.delivery == .channel,
                (before.storagePolicy, before.delivery) != (audience.storagePolicy, audience.delivery)
            else { continue }
            if before.storagePolicy != audience.storagePolicy { moved.append(audience) }
            try await connect(audience, of: key, now: now, on: connection)
        }
        if !isNew, declared != wanted {
            try await connection.query(takeOverTokens(of: key, from: present.values.map(\.lane)))
        }
        return (Set((present.keys + wanted.map(\.id)).map(\.bundleID)), moved, warnings)
    }

    /// Tokens of a variant may belong to another audience now. Its lane takes over the last timestamp of the app's lanes
    /// and, if it has no content, the newest content of them. The lanes must be locked.
    ///
    /// - Parameter lanes: those of the audiences that the event had before.
    private static func takeOverTokens(of key: String, from lanes: [Int]) -> PostgresQuery {
        """
        update audiences l set tokens_last_timestamp = greatest(l.tokens_last_timestamp, o.last_timestamp),
            newest_broadcast = coalesce(l.newest_broadcast, (
                select b.id from audiences n join broadcasts b on b.id = n.newest_broadcast
                where n.lane = any(\(lanes)) and \(AudienceColumns.isOfSameApp("n", "l"))
                order by b.accepted_at desc, b.id desc limit 1))
        from (select bundle_id, environment, max(greatest(last_timestamp, tokens_last_timestamp)) as last_timestamp
            from audiences where lane = any(\(lanes)) group by bundle_id, environment) o
        where l.lane = any(array(select lane from crowds where event_key = \(key)))
            and \(AudienceColumns.isOfSameApp("l", "o"))
        """
    }

    /// The audit log's reasons for audiences that get another channel, by app.
    static func reasons(_ moved: [Audience]) -> [BundleID: String] {
        Dictionary(grouping: moved, by: \.bundleID).mapValues { audiences in
            audiences.map {
                "the audience\($0.variant.map { " \($0)" } ?? "") in \($0.environment.rawValue) gets another channel, "
                    + "for its storage policy is "
                    + "\($0.storagePolicy.rawValue) now"
            }.joined(separator: "; ")
        }
    }

    /// Locks every lane that a change of the audiences may close, reopen or give another channel. One statement locks
    /// the lanes in order of their IDs, because settlements lock the same lanes in this order.
    private static func lockLanes(of key: String, on connection: PostgresConnection) async throws {
        try await connection.query(
            LaneRows.lock(
                """
                array(select lane from audiences where event_key = \(key)
                    union select l.lane from channels c join audiences l on l.channel = c.id where c.event_key = \(key))
                """))
    }

    /// Adds an audience. An audience that comes back before its channel has retired takes up its old lane, so that
    /// timestamps keep rising. The same holds for an audience that is reached by tokens. If that lane had got its end, it
    /// stays closed.
    private static func add(
        _ audience: Audience, to key: String, at position: Int, isNew: Bool, now: Date,
        on connection: PostgresConnection
    ) async throws {
        let old: PostgresQuery =
            audience.delivery == .channel
            ? """
            select l.lane, l.closed_at from (select * from channels where event_key = \(key) offset 0) c
            join audiences l on l.channel = c.id
            where c.state = 'active' and \(AudienceColumns.isSame("c", audience.id))
                and c.storage_policy = \(audience.storagePolicy.rawValue)::storage_policy
            order by l.lane desc limit 1
            """
            : """
            select l.lane, l.closed_at from (select id from broadcasts where event_key = \(key) offset 0) b
            cross join lateral (
                select lane from deliveries where broadcast_id = b.id and tokens is not null offset 0) d
            cross join lateral (select * from audiences where lane = d.lane and closed_at is not null offset 0) l
            where l.event_key is null and l.channel is null and \(AudienceColumns.isSame("l", audience.id))
            order by l.lane desc limit 1
            """
        if !isNew, let old = try await connection.query(old).first {
            let (lane, closedAt) = (try old.decode(Int.self, "lane"), try old.decode(Date?.self, "closed_at"))
            try await LaneRows.change("\([lane])", at: now, on: connection) { lane in
                if let closedAt { lane.reopen(closedAt: closedAt) }
                lane.change(audience, at: now)
            }
            try await write(audience, of: key, at: position, to: lane, on: connection)
        } else {
            try await connection.query(
                """
                insert into audiences (event_key, position, \(AudienceColumns.all))
                values (\(key), \(position), \(AudienceColumns.values(audience)))
                """)
            if !isNew, audience.delivery == .channel { try await connect(audience, of: key, now: now, on: connection) }
        }
    }

    /// Writes an audience's declaration to its row, after its lane was changed (`Lane.change`).
    private static func write(
        _ audience: Audience, of key: String, at position: Int, to lane: Int, on connection: PostgresConnection
    ) async throws {
        let columns: PostgresQuery = "(event_key, position, \(AudienceColumns.all))"
        let values: PostgresQuery = "(\(key)::text, \(position)::integer, \(AudienceColumns.values(audience)))"
        try await connection.query(
            """
            update audiences set \(columns) = \(values) where lane = \(lane) and \(columns) is distinct from \(values)
            """)
    }

    /// Removes audiences from their event: nothing more is sent to them, and `ChannelStore.align` retires their channels.
    ///
    /// - Parameter apps: the apps that have no audience left.
    /// - Returns: warnings about removed audiences that got no end.
    private static func remove(
        _ lanes: [Int], apps: Set<AppEnvironment>, now: Date, on connection: PostgresConnection
    ) async throws -> [String] {
        guard !lanes.isEmpty else { return [] }
        let warnings = try await warnings(removing: lanes, apps: apps, on: connection)
        try await connection.query("update audiences set event_key = null where lane = any(\(lanes))")
        try await close(lanes, now: now, on: connection)
        return warnings
    }

    /// Warnings about audiences that are about to be removed and got no end. Activities with tokens are counted once for
    /// each app, with its first audience.
    private static func warnings(
        removing lanes: [Int], apps: Set<AppEnvironment>, on connection: PostgresConnection
    ) async throws -> [String] {
        let rows = try await connection.query(
            """
            select u.bundle_id, u.environment, u.variant, c.channel_id, exists (
                select from crowds k
                where k.event_key = u.event_key and \(AudienceColumns.isOfSameApp("k", "u"))) as has_tokens
            from audiences u left join channels c on c.id = u.channel and \(AudienceColumns.wantsChannel("u"))
            where u.lane = any(\(lanes)) and u.fenced_at is null order by u.position
            """)
        var counted: Set<AppEnvironment> = []
        return try rows.compactMap { row in
            let audience = try AudienceColumns.id(row)
            let app = AppEnvironment(audience)
            return DeclarationWarnings.removing(
                audience, channelID: try row.decode("channel_id"),
                hasTokens: try apps.contains(app) && row.decode("has_tokens") && counted.insert(app).inserted)
        }
    }

    /// Gives an audience its former channel again, if that channel is not retired yet. Otherwise `ChannelStore.align`
    /// creates a channel. `align` also retires channels that are no longer used.
    private static func connect(
        _ audience: Audience, of key: String, now: Date, on connection: PostgresConnection
    ) async throws {
        let rows = try await connection.query(
            """
            select \(ChannelStore.columns) from (select * from channels where event_key = \(key) offset 0) c
            where c.state = 'active' and \(AudienceColumns.isSame("c", audience.id))
                and c.storage_policy = \(audience.storagePolicy.rawValue)::storage_policy
            """)
        if let channel = try rows.first?.read(Channel.self) {
            try await ChannelStore.connectLanes(to: channel, now: now, on: connection)
        }
    }
}

extension AppEnvironment {
    fileprivate init(_ id: Audience.ID) { self.init(bundleID: id.bundleID, environment: id.environment) }
}
