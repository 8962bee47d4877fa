internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A crowd's members as the tables `crowds` and `activities` have them.
enum CrowdRows {
    /// Some members, in order of their numbers.
    struct Shard {
        let members: [CrowdShard.Member]
        /// The highest number that was looked at; `nil`: they are those to be tried again.
        let cursor: Int?
        /// Nobody is beyond it.
        let isLast: Bool
        /// How many the crowd has, when its message begins.
        let total: Int?
    }

    /// The members of a lane's crowd: `a` are their activities.
    private static func crowd(_ lane: Int) -> PostgresQuery {
        """
        crowds c join activities a on a.app = c.app and a.event_key = c.event_key and a.in_crowd
            and a.frequent = (c.kind = 'crowd') where c.lane = \(lane)
        """
    }

    /// Who is sent to next.
    static func shard(
        of lane: Int, _ fanOut: FanOut, size: Int, on connection: PostgresConnection
    ) async throws -> Shard {
        switch fanOut.next {
        case .again(let activities):
            let rows = try await connection.query(
                """
                select id, update_token from activities where id = any(\(activities)) and in_crowd order by id
                """)
            return Shard(members: try rows.compactMap(member), cursor: nil, isLast: true, total: nil)
        case .after(let cursor):
            let rows = try await connection.query(
                """
                select a.id, a.update_token from \(crowd(lane)) and a.id > \(cursor) order by a.id limit \(size)
                """)
            let total: Int? =
                cursor == 0
                ? try await connection.query("select count(*) as n from \(crowd(lane))").first?.decode("n") : nil
            let last: Int? = try rows.last?.decode("id")
            return Shard(
                members: try rows.compactMap(member), cursor: last ?? cursor, isLast: rows.count < size, total: total)
        }
    }

    private static func member(_ row: PostgresRow) throws -> CrowdShard.Member? {
        guard let bytes: [UInt8] = try row.decode([UInt8]?.self, "update_token"), let token = DeviceToken(bytes: bytes)
        else { return nil }
        return CrowdShard.Member(activity: try row.decode("id"), token: token)
    }

    /// `app_environments.id` of an address.
    static func app(of address: APNsAddress) -> PostgresQuery {
        """
        select id from app_environments where bundle_id = \(address.bundleID.rawValue)
            and environment = \(address.environment.rawValue)::environment
        """
    }

    // MARK: Coming and going

    /// Makes lanes of crowds that are not there yet, beside their audiences' lanes: with their timestamps, so that those go
    /// on rising on every device, and their newest content. Both lanes of a crowd are made together, for people change
    /// their minds about frequent pushes. Nothing is made beside a lane that got its end.
    ///
    /// Events are locked as by whoever accepts a broadcast: what is being accepted meanwhile is the newest content here, or
    /// finds the crowd.
    ///
    /// - Parameter audiences: rows of an audience's lane (`beside`), its `event_key` and `app`.
    private static func make(_ audiences: PostgresQuery) -> PostgresQuery {
        """
        with wanted as (
            select w.*, k.kind from (\(audiences)) w, (values ('crowd'::lane_kind), ('infrequent')) k(kind)
        ), missing as (
            select w.*, nextval(pg_get_serial_sequence('lanes', 'id')) as lane from wanted w
            where not exists (select from crowds c
                where c.event_key = w.event_key and c.app = w.app and c.kind = w.kind)
        ), locked as (
            select key from events where key in (select event_key from missing) order by key for no key update
        ), beside as (
            select m.lane, m.kind, l.bundle_id, l.environment, l.variant, l.priority, l.last_timestamp,
                l.newest_broadcast
            from missing m join locked k on k.key = m.event_key
            join lanes l on l.id = m.beside and l.fenced_at is null
            for no key update of l
        ), made as (
            insert into lanes (id, kind, bundle_id, environment, variant, priority, storage_policy, last_timestamp,
                newest_broadcast)
            overriding system value
            select lane, kind, bundle_id, environment, variant, priority, 'mostRecentMessageStored', last_timestamp,
                newest_broadcast
            from beside
            returning id
        )
        insert into crowds (lane, event_key, app, kind)
        select m.lane, m.event_key, m.app, m.kind from missing m join made on made.id = m.lane
        on conflict (event_key, app, kind) do nothing
        """
    }

    /// Makes the crowds of an event's audiences that are reached by tokens only.
    static func make(of key: String) -> PostgresQuery {
        make(
            """
            select u.lane as beside, u.event_key, ae.id as app from audiences u
            join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "u"))
            where u.event_key = \(key) and not \(AudienceColumns.wantsChannel("u"))
            """)
    }

    /// Has the crowds of an event get the content of the audiences that stand for their apps now: of the one without a
    /// variant, else the first. Their lanes are locked.
    static func follow(of key: String) -> PostgresQuery {
        """
        update lanes l set variant = u.variant, priority = u.priority
        from crowds c join app_environments ae on ae.id = c.app
        cross join lateral (\(AudienceColumns.first(of: "c.event_key", in: "ae"))) u
        where c.event_key = \(key) and l.id = c.lane and (l.variant, l.priority) is distinct from (u.variant, u.priority)
        """
    }

    /// The lanes of an app's crowds that were closed with its last audience.
    static func closed(of key: String, _ audience: Audience.ID) -> PostgresQuery {
        """
        select l.id, l.closed_at from crowds c join app_environments ae on ae.id = c.app join lanes l on l.id = c.lane
        where c.event_key = \(key) and ae.bundle_id = \(audience.bundleID.rawValue)
            and ae.environment = \(audience.environment.rawValue)::environment and l.closed_at is not null
        """
    }

    /// The lane that has the newest content of an audience: a channel's, or that of its crowd where it has no channel.
    ///
    /// - Parameters: rows of `audiences` and `app_environments`.
    static func newsLane(_ audience: PostgresQuery, _ app: PostgresQuery) -> PostgresQuery {
        """
        (case when \(AudienceColumns.wantsChannel(audience)) then \(audience).lane else (
            select n.lane from crowds n where n.event_key = \(audience).event_key and n.app = \(app).id
                and n.kind = 'crowd') end)
        """
    }

    /// Makes the crowds of these activities that are not there yet, but for events that are over.
    ///
    /// Then queues those for the newest content: it may have gone before their tokens came.
    ///
    /// - Parameter activities: an expression of `bigint[]`: whose tokens came or changed.
    static func join(_ activities: PostgresQuery, now: Date) -> [PostgresQuery] {
        [
            make(
                """
                select distinct u.lane as beside, a.event_key, a.app
                from activities a join app_environments ae on ae.id = a.app
                join events e on e.key = a.event_key and e.ended_at is null and e.cancelled_at is null
                cross join lateral (\(AudienceColumns.first(of: "a.event_key", in: "ae"))) u
                where a.id = any(\(activities)) and a.in_crowd
                """),
            """
            insert into crowd_joins (activity, lane, due_at)
            select a.id, c.lane, \(now) from activities a
            join crowds c on c.app = a.app and c.event_key = a.event_key and (c.kind = 'crowd') = a.frequent
            join lanes l on l.id = c.lane and l.newest_broadcast is not null and l.fenced_at is null
            where a.id = any(\(activities)) and a.in_crowd
            on conflict (activity) do update set lane = excluded.lane, due_at = excluded.due_at
            """,
            """
            select pg_notify('grandstand_lanes_' || ae.environment, '') from app_environments ae
            where ae.id in (select app from activities where id = any(\(activities)) and in_crowd)
            """,
        ]
    }

    /// Takes activities that came late for a while.
    ///
    /// - Returns: by lane.
    static func claimJoins(
        _ claim: ShardClaim, on connection: PostgresConnection
    ) async throws -> [Int: [CrowdShard.Member]] {
        let rows = try await connection.query(
            """
            update crowd_joins j set due_at = \(claim.leasedUntil)
            from (select j.activity from crowd_joins j join lanes l on l.id = j.lane
                where j.due_at <= \(claim.at) and l.environment = \(claim.environment.rawValue)::environment
                order by j.due_at limit \(claim.shardSize) for update of j skip locked) due
            join activities a on a.id = due.activity
            where j.activity = due.activity
            returning j.lane, a.id, a.update_token
            """)
        var joins: [Int: [CrowdShard.Member]] = [:]
        for row in rows {
            let lane: Int = try row.decode("lane")
            // Without a token it has nothing to wait for, and is settled with the others.
            if let member = try member(row) { joins[lane, default: []].append(member) }
        }
        return joins
    }

    /// They got what they waited for.
    static func joined(_ activities: [Int]) -> PostgresQuery {
        "delete from crowd_joins where activity = any(\(activities))"
    }

    /// A lane's newest content as an update that changes nothing where it was shown already.
    ///
    /// - Returns: `nil`: there is none, or the lane takes nothing any more.
    static func newest(
        of lane: Int, now: Date, on connection: PostgresConnection
    ) async throws -> (address: APNsAddress, body: [UInt8], expiresAt: Date)? {
        let rows = try await connection.query(
            """
            select \(PostgresChannelStore.addressColumns), b.event, null::json as alert,
                \(BroadcastRows.contentState("b", for: "l.variant")) as content_state, b.stale_date,
                null::bigint as dismissal_date, b.relevance_score, b.start, null::json as by_variant, l.last_timestamp
            from lanes l join app_environments ae on ae.bundle_id = l.bundle_id and ae.environment = l.environment
            \(PostgresChannelStore.addressJoins)
            join broadcasts b on b.id = l.newest_broadcast
            where l.id = \(lane) and l.fenced_at is null and b.event = 'update'
            """)
        guard let row = rows.first else { return nil }
        let timestamp: Int = try row.decode("last_timestamp")
        return (
            try PostgresChannelStore.address(row),
            // The start may have come after the content, and shows a later timestamp then. Below every update to come.
            try row.content().payload.body(timestamp: max(timestamp, Int(now.timeIntervalSince1970) - 1)),
            now.addingTimeInterval(TimeInterval(APNsLimits.storedMessageLifetime))
        )
    }
}
