internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A crowd's members as the tables `lanes` and `activities` have them.
enum CrowdRows {
    /// The members of a lane's crowd: `a` are their activities.
    ///
    /// - Parameter lane: an expression of `bigint`.
    static func crowd(_ lane: PostgresQuery) -> PostgresQuery {
        """
        lanes c join activities a on a.app = c.crowd_app and a.event_key = c.crowd_event
            and a.variant = c.crowd_variant and a.in_crowd
        where c.id = \(lane)
        """
    }

    // MARK: A message

    /// Begins a message: all members get it, also those that wait, for example after the message before.
    ///
    /// - Returns: their number.
    static func begin(_ lane: Int, on connection: PostgresConnection) async throws -> Int {
        try await connection.pipeline([
            wait(lane, where: "a.due_at is not null"), "select count(*) as n from \(crowd("\(lane)"))",
        ])[1].first?.decode("n") ?? 0
    }

    /// The members of a message's next shard: first those that were not tried yet, then those that are due again.
    /// Members that want few pushes and had one a short time ago wait, unless the message has an alert (`rings`).
    static func shard(
        of delivery: Int, rings: Bool, on lane: Int, size: Int, at now: Date, on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member] {
        let rows = try await connection.query(
            """
            select \(memberColumns), coalesce(not \(rings) and not a.frequent and a.rests_until > \(now), false) as rests
            from \(untried(delivery, on: lane, limit: size)) order by a.has, a.id
            """)
        guard !rows.isEmpty else {
            return try await members(
                "a.has < \(delivery) and a.due_at <= \(now)", of: lane, size: size, on: connection)
        }
        let resting: [Int] = try rows.filter { try $0.decode(Bool.self, "rests") }.map { try $0.decode("id") }
        if !resting.isEmpty {
            try await connection.query(wait(lane, until: "rests_until", where: "a.id = any(\(resting))"))
        }
        return try rows.filter { try !$0.decode(Bool.self, "rests") }.compactMap(member)
    }

    /// The members that do not have a message yet, and when the first of those that wait is due.
    static func rest(
        of delivery: Int, on lane: Int, on connection: PostgresConnection
    ) async throws -> (rest: FanOut.Rest, due: Date?) {
        let open = try await connection.query("select from \(untried(delivery, on: lane, limit: 1))")
        guard open.isEmpty else { return (FanOut.Rest(), nil) }
        let row = try await connection.query(
            """
            select count(*) as waiting, count(*) filter (where a.tries = 0) as resting, min(a.due_at) as due
            from \(crowd("\(lane)")) and a.has < \(delivery) and a.due_at is not null
            """)[0]
        return (
            FanOut.Rest(isSwept: true, waiting: try row.decode("waiting"), resting: try row.decode("resting")),
            try row.decode("due")
        )
    }

    /// Members `a` of a lane that lack a message and wait for nothing. The subquery is read in the order of its index up
    /// to the limit, whatever the number of members.
    private static func untried(_ delivery: Int, on lane: Int, limit: Int) -> PostgresQuery {
        """
        lanes c cross join lateral (
            select id, update_token, frequent, tries, rests_until, has from activities
            where app = c.crowd_app and event_key = c.crowd_event and variant = c.crowd_variant and in_crowd
                and has < \(delivery) and due_at is null order by has, id limit \(limit)) a
        where c.id = \(lane)
        """
    }

    // MARK: Members

    private static let memberColumns: PostgresQuery = "a.id, a.update_token, a.frequent, a.tries"

    /// Members that are due, those first that have waited longest.
    ///
    /// - Parameter condition: a condition on rows `a`.
    static func members(
        _ condition: PostgresQuery, of lane: Int, size: Int, on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member] {
        try await connection.query(
            """
            select \(memberColumns) from \(crowd("\(lane)")) and a.due_at is not null and \(condition)
            order by a.due_at, a.id limit \(size)
            """
        ).compactMap(member)
    }

    /// Reads a row with `memberColumns`.
    private static func member(_ row: PostgresRow) throws -> CrowdShard.Member? {
        guard let bytes: [UInt8] = try row.decode([UInt8]?.self, "update_token"), let token = DeviceToken(bytes: bytes)
        else { return nil }
        return CrowdShard.Member(
            activity: try row.decode("id"), token: token, wantsFew: try !row.decode(Bool.self, "frequent"),
            attempts: try row.decode("tries"))
    }

    /// Lets members wait. Reports lock activities before lanes. So rows that are locked are skipped, not waited for,
    /// because the caller has locked the lane: a report sets these columns itself.
    ///
    /// - Parameters:
    ///   - time: an expression for when they are due; null: they wait for nothing but the next message.
    ///   - condition: a condition on rows `a`.
    static func wait(
        _ lane: Int, until time: PostgresQuery = "null", where condition: PostgresQuery
    ) -> PostgresQuery {
        """
        update activities set due_at = \(time), tries = 0 where id = any(array(
            select a.id from \(crowd("\(lane)")) and \(condition) for no key update of a skip locked))
        """
    }

    /// Records what members got, and when they are due again, unless they have another token by now.
    ///
    /// - Parameter delivery: the message; `nil`: the newest content, separately.
    static func given(
        _ outcomes: [PushOutcome<CrowdShard.Member>], of delivery: Int?, rest: TimeInterval, now: Date
    ) -> PostgresQuery {
        let again = outcomes.map { outcome in
            let again = CrowdShard.again(
                outcome.verdict, after: outcome.member.attempts, at: now, jitter: .random(in: 0..<1))
            // A newcomer is tried again with what is the newest content then, so its attempts are not counted.
            return delivery == nil
                ? again.map { _ in (attempts: 0, at: now.addingTimeInterval(CrowdJoins.pause)) } : again
        }
        let members = outcomes.map(\.member)
        return """
            update activities a set has = case when r.due_at is null then greatest(a.has, \(delivery ?? 0)) else a.has end,
                due_at = r.due_at, tries = r.tries, rests_until = coalesce(r.rests_until, a.rests_until)
            from unnest(\(members.map(\.activity)), \(members.map(\.token.hex)), \(again.map { $0?.at }),
                \(again.map { $0.map { max(delivery == nil ? 0 : 1, $0.attempts) } ?? 0 }),
                \(outcomes.map { $0.restsUntil(rest) })) as r(id, token, due_at, tries, rests_until)
            where a.id = r.id and a.id = any(\(members.map(\.activity))) and a.update_token = decode(r.token, 'hex')
            """
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
            select w.* from (\(audiences)) w
            where not exists (select from lanes c
                where c.crowd_event = w.event_key and c.crowd_app = w.app and c.crowd_variant = w.variant)
        ), locked as (
            select key from events where key in (select event_key from missing) order by key for no key update
        ), audience_lanes as (
            select m.event_key as crowd_event, m.app as crowd_app, m.variant as crowd_variant,
                \(AudienceColumns.ofCrowd(of: "l")), l.last_timestamp, l.newest_broadcast, l.fenced_at
            from missing m join locked k on k.key = m.event_key join lanes l on l.id = m.audience_lane
            for no key update of l
        )
        insert into lanes (kind, crowd_event, crowd_app, crowd_variant, \(AudienceColumns.ofCrowd), storage_policy,
            last_timestamp, newest_broadcast, fenced_at)
        select 'crowd', crowd_event, crowd_app, crowd_variant, \(AudienceColumns.ofCrowd),
            'mostRecentMessageStored', last_timestamp, newest_broadcast, fenced_at
        from audience_lanes
        on conflict do nothing
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
        from lanes c
        cross join lateral (\(AudienceColumns.ofCrowd(of: "c.crowd_event", in: "c", variant: "c.crowd_variant"))) u
        where c.crowd_event = \(key) and l.id = c.id
            and (\(AudienceColumns.followed(of: "l"))) is distinct from (\(AudienceColumns.followed(of: "u")))
        """
    }

    /// The lanes of an app's crowds that were closed when the event's last audience of this app was removed.
    static func closed(of key: String, _ audience: Audience.ID) -> PostgresQuery {
        """
        select id, closed_at from lanes where crowd_event = \(key) and bundle_id = \(audience.bundleID.rawValue)
            and environment = \(audience.environment.rawValue)::environment and closed_at is not null
        """
    }

    /// Whether a lane of a crowd has members. `order by` has the order of the index of crowds, so that the planner uses
    /// this index. In a plan that was made for an empty table, the index of all activities of an event would seem
    /// equally cheap.
    static func hasMembers(_ lane: PostgresQuery) -> PostgresQuery {
        """
        exists (select from lanes c cross join lateral (
            select from activities
            where app = c.crowd_app and event_key = c.crowd_event and variant = c.crowd_variant and in_crowd
            order by has, id limit 1) a
            where c.id = \(lane))
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
            select n.id from lanes n where n.crowd_event = \(audience).event_key and n.crowd_app = \(app).id
                and n.crowd_variant = \(audience).variant) end)
        """
    }
}
