internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Activities whose token came, or changed, when what the others have had gone already (`crowd_joins`): they get it by
/// themselves, shard by shard, under the lease of their crowd's lane.
enum CrowdJoins {
    /// Seconds after an `end` in which a phone may show an activity that did not get it: no activity is active longer.
    static let endIsOfUse = TimeInterval(APNsLimits.activityLifetime)
    /// Seconds before a member that did not get it is tried again.
    static let pause: TimeInterval = 5

    // MARK: Coming

    /// Queues those of these activities that are in a crowd, which is made if it is not there.
    ///
    /// - Parameter activities: an expression of `bigint[]`: whose tokens came or changed.
    static func queue(_ activities: PostgresQuery, now: Date) -> [PostgresQuery] {
        [
            CrowdRows.make(for: activities, now: now),
            """
            insert into crowd_joins (activity, lane, due_at)
            \(joining("select * from \(CrowdRows.activities(activities)) n where n.in_crowd", now))
            """,
            """
            select pg_notify('grandstand_lanes_' || ae.environment, '') from app_environments ae
            where ae.id = any(array(select n.app from \(CrowdRows.activities(activities)) n where n.in_crowd))
            """,
        ]
    }

    /// The rows of activities that join their crowds, and what becomes of those that had joined before.
    ///
    /// - Parameter activities: rows of `id`, `app`, `event_key` and `frequent`.
    static func joining(_ activities: PostgresQuery, _ now: Date) -> PostgresQuery {
        """
        select a.id, c.lane, \(now) from (\(activities)) a
        cross join lateral (select lane from crowds where event_key = a.event_key and app = a.app
            and kind = case when a.frequent then 'crowd'::lane_kind else 'infrequent' end offset 0) c
        on conflict (activity) do update set lane = excluded.lane, due_at = excluded.due_at
        """
    }

    /// An update token belongs to one activity: a report of it takes it from the one that had it before, for both are
    /// one phone.
    ///
    /// - Parameter activities: an expression of `bigint[]`: whose tokens were reported.
    static func takeOver(_ activities: PostgresQuery) -> PostgresQuery {
        """
        update activities set update_token = null, registered_at = null, suspect_since = null
        where id = any(array(
            select o.id from (select id, app, update_token from activities where id = any(\(activities)) offset 0) a
            cross join lateral (
                select id from activities where app = a.app and update_token = a.update_token offset 0) o
            where o.id < a.id or o.id <> a.id and not o.id = any(\(activities))
            order by o.id))
        """
    }

    // MARK: Claims

    /// Crowds' lanes with late members, by as many index probes as there are lanes.
    static let waiting: PostgresQuery = """
        waiting as (
            (select lane from crowd_joins order by lane limit 1)
            union all
            select (select j.lane from crowd_joins j where j.lane > w.lane order by j.lane limit 1)
            from waiting w where w.lane is not null
        )
        """

    /// The first of a lane of `waiting`, and the lane: looked up by key, for a plan that was made for empty tables would
    /// read all lanes there are.
    static let heads: PostgresQuery = """
        waiting w
        cross join lateral (select due_at from crowd_joins where lane = w.lane order by due_at limit 1) j
        cross join lateral (select id, environment, bundle_id, leased_until from lanes where id = w.lane offset 0) l
        """

    /// Locks lanes with late members and nothing under way; one that is locked is another claim's.
    static func lock(_ claim: LaneClaim, _ avoiding: [BundleID]) -> PostgresQuery {
        """
        with recursive \(waiting)
        select id from lanes where id = any(array(
            select l.id from \(heads)
            where j.due_at <= \(claim.at) and l.environment = \(claim.environment.rawValue)::environment
                and coalesce(l.leased_until <= \(claim.at), true)
                and l.bundle_id <> all(\(avoiding.map(\.rawValue)))
            order by j.due_at limit \(claim.limit)))
            and coalesce(leased_until <= \(claim.at), true)
        order by id for no key update skip locked
        """
    }

    /// The leads of lanes of crowds; a lane whose audience was removed has none.
    static func leads(of lanes: [Int], on connection: PostgresConnection) async throws -> [Int: Int] {
        var leads: [Int: Int] = [:]
        for row in try await connection.query(
            """
            select r.lane, s.lane as lead from unnest(\(lanes)) r(lane)
            cross join lateral (select event_key, beside from audience_lanes where lane = r.lane offset 0) v
            cross join lateral (select lane from audience_lanes
                where event_key = v.event_key and beside = v.beside and is_lead offset 0) s
            """)
        {
            leads[try row.decode("lane")] = try row.decode("lead")
        }
        return leads
    }

    /// The members of a lane whose time has come; one that is not in the crowd any more waits for nothing.
    static func members(
        of lane: Int, _ claim: LaneClaim, size: Int, on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member] {
        // Locked, so that an activity that is reported anew meanwhile joins anew.
        let due: [Int] = try await connection.query(
            """
            select activity from crowd_joins where lane = \(lane) and due_at <= \(claim.at)
            order by due_at, activity limit \(size) for update skip locked
            """
        ).map { try $0.decode("activity") }
        guard !due.isEmpty else { return [] }
        let members = try await connection.query(
            "select id, update_token from \(CrowdRows.activities("\(due)")) n where in_crowd order by id"
        ).compactMap(CrowdRows.member)
        let gone = Set(due).subtracting(members.map(\.activity)).sorted()
        if !gone.isEmpty { try await connection.query("delete from crowd_joins where activity = any(\(gone))") }
        return members
    }

    /// No member that waits on a lane gets anything.
    static func forget(_ lane: Int, _ claim: LaneClaim) -> PostgresQuery {
        "delete from crowd_joins where lane = \(lane) and due_at <= \(claim.at)"
    }

    /// Members that are in a shard of the lane's message wait for nothing else, unless they joined with another token since
    /// the shard was read. Called under the lane's lock. Who is reported anew at this moment joins anew: its row is left,
    /// not waited for. Without anybody who waits on the lane no row is looked for.
    static func reach(
        _ members: [CrowdShard.Member], of lane: Int, on connection: PostgresConnection
    ) async throws {
        let waiting: Set<Int> = Set(
            try await connection.query(
                """
                select activity from crowd_joins where activity = any(\(members.map(\.activity))) and lane + 0 = \(lane)
                    and exists (select from crowd_joins where lane = \(lane))
                for update skip locked
                """
            ).map { try $0.decode("activity") })
        guard !waiting.isEmpty else { return }
        // Another statement, which sees the tokens that came with the rows that are locked now.
        try await connection.query(joined(members.filter { waiting.contains($0.activity) }, of: lane))
    }

    // MARK: Settling

    /// Before `joined`, so that this sees the token of whoever joined again meanwhile.
    static func lock(_ members: [CrowdShard.Member]) -> PostgresQuery {
        "select from crowd_joins where activity = any(\(members.map(\.activity))) order by activity for update"
    }

    /// They got what they waited for, unless they joined another lane or with another token meanwhile. `+ 0` keeps the
    /// index by lane out: a plan that was made for an empty table would read all that wait there.
    static func joined(_ members: [CrowdShard.Member], of lane: Int) -> PostgresQuery {
        """
        delete from crowd_joins j using unnest(\(members.map(\.activity)), \(members.map(\.token.hex))) as r(activity, token)
        where j.activity = r.activity and j.activity = any(\(members.map(\.activity))) and j.lane + 0 = \(lane)
            and (select update_token is null or update_token = decode(r.token, 'hex') from activities
                where id = r.activity)
        """
    }

    /// They did not, and are tried again.
    static func postponed(_ members: [CrowdShard.Member], of lane: Int, now: Date) -> PostgresQuery {
        """
        update crowd_joins set due_at = \(now.addingTimeInterval(pause))
        where activity = any(\(members.map(\.activity))) and lane + 0 = \(lane)
        """
    }
}
