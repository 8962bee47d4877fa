internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A crowd's members as the tables `fan_outs` and `activities` have them.
enum CrowdRows {
    /// The members of a lane's crowd: `a` are their activities.
    ///
    /// - Parameter lane: an expression of `bigint`.
    static func crowd(_ lane: PostgresQuery) -> PostgresQuery {
        """
        fan_outs c join activities a on a.app = c.app and a.event_key = c.event_key and a.variant = c.variant and a.in_crowd
        where c.lane = \(lane)
        """
    }

    /// The members of one shard.
    struct Shard {
        var members: [CrowdShard.Member] = []
        let step: FanOut.Step
        /// Members that want few pushes and got one a short time ago, and until when they get no further push.
        var resting: [(activity: Int, until: Date)] = []
    }

    /// The next shard of members after the cursor of a message. A message with an alert (`rings`) is also sent to
    /// members that want few pushes and got one a short time ago.
    static func sweep(
        _ lane: Int, beyond cursor: Int, rings: Bool, size: Int, at now: Date, on connection: PostgresConnection
    ) async throws -> Shard {
        let rows = try await connection.query(
            """
            select a.id, a.update_token, a.frequent, a.rests_until from \(crowd("\(lane)")) and a.id > \(cursor)
            order by a.id limit \(size)
            """)
        var members: [CrowdShard.Member] = []
        var resting: [(activity: Int, until: Date)] = []
        for member in try rows.compactMap({ row in try Self.member(row).map { ($0, row) } }) {
            let until: Date? = try member.1.decode("rests_until")
            if let until, until > now, member.0.wantsFew, !rings {
                resting.append((member.0.activity, until))
            } else {
                members.append(member.0)
            }
        }
        return Shard(
            members: members,
            step: .sweep(
                to: try rows.last?.decode(Int.self, "id") ?? cursor, isLast: rows.count < size, resting: resting.count),
            resting: resting)
    }

    static func count(_ lane: Int, on connection: PostgresConnection) async throws -> Int {
        try await connection.query("select count(*) as n from \(crowd("\(lane)"))").first?.decode("n") ?? 0
    }

    /// The run of a crowd's lane.
    static func run(_ lane: Int) -> PostgresQuery { "(select id from fan_outs where lane = \(lane))" }

    /// Those of the given activities that are in a lane's crowd, in order of their numbers.
    static func members(
        _ ids: [Int], of lane: Int, on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member] {
        try await connection.query(
            """
            select id, update_token, frequent from \(activities("\(ids)")) n
            where in_crowd and (event_key, variant) = (select event_key, variant from fan_outs where lane = \(lane))
            order by id
            """
        ).compactMap(member)
    }

    /// Reads a row with `id`, `update_token` and `frequent`.
    static func member(_ row: PostgresRow) throws -> CrowdShard.Member? {
        guard let bytes: [UInt8] = try row.decode([UInt8]?.self, "update_token"), let token = DeviceToken(bytes: bytes)
        else { return nil }
        return CrowdShard.Member(
            activity: try row.decode("id"), token: token, wantsFew: try !row.decode(Bool.self, "frequent"))
    }

    // MARK: Coming and going

    /// Makes the lanes of crowds that do not exist yet, beside their audiences' lanes. A new lane copies three things
    /// from its audience's lane: the newest content, the end, and the last timestamp, so that timestamps keep rising on
    /// every device.
    ///
    /// Events are locked as an acceptance locks them. So a broadcast that is accepted meanwhile is already the newest
    /// content here, or its acceptance finds the crowd.
    ///
    /// - Parameter audiences: rows with an audience's lane (`beside`), `event_key` and `app`, and the crowd's
    ///   `variant`.
    private static func make(_ audiences: PostgresQuery) -> PostgresQuery {
        """
        with missing as (
            select w.*, nextval(pg_get_serial_sequence('lanes', 'id')) as lane from (\(audiences)) w
            where not exists (select from fan_outs c
                where c.event_key = w.event_key and c.app = w.app and c.policy = 'update' and c.variant = w.variant)
        ), locked as (
            select key from events where key in (select event_key from missing) order by key for no key update
        ), audience_lanes as (
            select m.lane, \(AudienceColumns.ofCrowd(of: "l")), l.last_timestamp, l.newest_broadcast,
                l.fenced_at
            from missing m join locked k on k.key = m.event_key join lanes l on l.id = m.audience_lane
            for no key update of l
        ), made as (
            insert into lanes (id, kind, \(AudienceColumns.ofCrowd), storage_policy, last_timestamp, newest_broadcast,
                fenced_at)
            overriding system value
            select lane, 'crowd', \(AudienceColumns.ofCrowd), 'mostRecentMessageStored', last_timestamp,
                newest_broadcast, fenced_at
            from audience_lanes
            returning id
        )
        insert into fan_outs (policy, lane, event_key, app, variant)
        select 'update', m.lane, m.event_key, m.app, m.variant from missing m join made on made.id = m.lane
        on conflict (event_key, app, policy, variant) do nothing
        """
    }

    /// Makes the crowds of an event's audiences that are reached by tokens only.
    static func make(of key: String) -> PostgresQuery {
        make(
            """
            select u.lane as audience_lane, u.event_key, ae.id as app, u.variant from audiences u
            join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "u"))
            where u.event_key = \(key) and not \(AudienceColumns.wantsChannel("u"))
            """)
    }

    /// Makes the crowds of activities, unless their events have been over for so long that no activity needs an end.
    ///
    /// - Parameter activities: an expression of `bigint[]`.
    static func make(for activities: PostgresQuery, now: Date) -> PostgresQuery {
        make(
            """
            select distinct u.lane as audience_lane, a.event_key, a.app, a.variant
            from \(Self.activities(activities)) a
            cross join lateral (select * from app_environments where id = a.app offset 0) ae
            cross join lateral (
                select from events where key = a.event_key and cancelled_at is null
                    and coalesce(ended_at > \(now.addingTimeInterval(-CrowdJoins.endIsOfUse)), true) offset 0) e
            cross join lateral (\(AudienceColumns.ofCrowd(of: "a.event_key", in: "ae", variant: "a.variant"))) u
            where a.in_crowd
            """)
    }

    /// Selects activities by their IDs only. Otherwise a plan that was made for an empty table could use the index of
    /// all activities in a crowd, because for an empty table both indexes seem equally cheap.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func activities(_ ids: PostgresQuery) -> PostgresQuery {
        "(select * from activities where id = any(\(ids)) offset 0)"
    }

    /// Copies to the lanes of an event's crowds the attributes of their present audiences (`AudienceColumns.ofCrowd`).
    /// The lanes must be locked.
    static func follow(of key: String) -> PostgresQuery {
        """
        update lanes l set (\(AudienceColumns.followed)) = (\(AudienceColumns.followed(of: "u")))
        from fan_outs c join app_environments ae on ae.id = c.app
        cross join lateral (\(AudienceColumns.ofCrowd(of: "c.event_key", in: "ae", variant: "c.variant"))) u
        where c.event_key = \(key) and l.id = c.lane
            and (\(AudienceColumns.followed(of: "l"))) is distinct from (\(AudienceColumns.followed(of: "u")))
        """
    }

    /// The lanes of an app's crowds that were closed when the event's last audience of this app was removed.
    static func closed(of key: String, _ audience: Audience.ID) -> PostgresQuery {
        """
        select l.id, l.closed_at from fan_outs c join app_environments ae on ae.id = c.app join lanes l on l.id = c.lane
        where c.event_key = \(key) and ae.bundle_id = \(audience.bundleID.rawValue)
            and ae.environment = \(audience.environment.rawValue)::environment and l.closed_at is not null
        """
    }

    /// Whether a lane of a crowd has members. `order by` has the order of the index of crowds, so that the planner uses
    /// this index. In a plan that was made for an empty table, the index of all activities of an event would seem
    /// equally cheap.
    static func hasMembers(_ lane: PostgresQuery) -> PostgresQuery {
        """
        exists (select from fan_outs c cross join lateral (
            select from activities where app = c.app and event_key = c.event_key and variant = c.variant and in_crowd
            order by id limit 1) a
            where c.lane = \(lane))
        """
    }

    /// The lane that leads an audience (`Lane.lead`): its channel's lane, or its crowd's lane if it has no channel.
    ///
    /// - Parameters:
    ///   - audience: a row of `audiences`.
    ///   - app: a row of `app_environments`.
    static func newsLane(_ audience: PostgresQuery, _ app: PostgresQuery) -> PostgresQuery {
        """
        (case when \(AudienceColumns.wantsChannel(audience)) then \(audience).lane else (
            select n.lane from fan_outs n where n.event_key = \(audience).event_key and n.app = \(app).id
                and n.policy = 'update' and n.variant = \(audience).variant) end)
        """
    }
}
