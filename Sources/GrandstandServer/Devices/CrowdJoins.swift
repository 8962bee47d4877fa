internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Late members of crowds: activities whose token came or changed after the newest content was sent to the crowd's
/// other members. Their rows of `fan_out_queue` have no delivery. Late members get the newest content separately, shard
/// by shard, under the lease of their crowd's lane.
enum CrowdJoins {
    /// Seconds after an `end` in which a phone may still show an activity that did not get the `end`. No activity is
    /// active longer.
    static let endIsOfUse = TimeInterval(APNsLimits.activityLifetime)
    /// The shortest time between two separate pushes of the newest content to an activity whose token changes.
    static let rest: PostgresQuery = "interval '30 s'"
    /// Seconds until the newest content is sent again to a member that did not get it.
    static let pause: TimeInterval = 5

    // MARK: Coming

    /// Queues the activities that belong to a crowd; the crowd is made if it does not exist.
    ///
    /// - Parameter activities: an expression of `bigint[]`: the activities whose tokens came or changed.
    static func queue(_ activities: PostgresQuery, now: Date) -> [PostgresQuery] {
        [
            CrowdRows.make(for: activities, now: now),
            """
            insert into fan_out_queue (run, member, due_at)
            select c.id, a.id, greatest(a.joins_at, \(now)) from \(CrowdRows.activities(activities)) a
            cross join lateral (
                select id from fan_outs
                where event_key = a.event_key and app = a.app and policy = 'update' and variant = a.variant offset 0) c
            where a.in_crowd order by a.id
            on conflict (member, run) do update set due_at = excluded.due_at, delivery = null, attempts = 0
            """,
            """
            select pg_notify('grandstand_lanes_' || ae.environment, '') from app_environments ae
            where ae.id = any(array(select n.app from \(CrowdRows.activities(activities)) n where n.in_crowd))
            """,
        ]
    }

    /// Takes reported tokens away from the activities that had them before. An update token belongs to one activity
    /// only; the former and the new activity are on the same phone.
    ///
    /// - Parameter activities: an expression of `bigint[]`: the activities whose tokens were reported.
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

    /// The IDs of the runs (rows of `fan_outs`) that have members in the queue without a delivery. The query needs as
    /// many index probes as there are such runs.
    static let waiting: PostgresQuery = """
        waiting as (
            (select run from fan_out_queue where delivery is null order by run limit 1)
            union all
            select (select q.run from fan_out_queue q where q.delivery is null and q.run > w.run order by q.run limit 1)
            from waiting w where w.run is not null
        )
        """

    /// The first member in the queue of each crowd of `waiting`, and the crowd's lane. The lane is looked up by key,
    /// because a plan that was made for empty tables would read all lanes.
    static let heads: PostgresQuery = """
        waiting w
        cross join lateral (select lane from fan_outs where id = w.run and policy = 'update' offset 0) c
        cross join lateral (
            select due_at from fan_out_queue where run = w.run and delivery is null order by due_at limit 1) j
        cross join lateral (select id, environment, bundle_id, leased_until from lanes where id = c.lane offset 0) l
        """

    /// Locks lanes that have late members due and that nobody has leased. Lanes that another transaction has locked are
    /// skipped.
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

    /// The leads of crowds' lanes (`Lane.lead`). A lane whose audience was removed has none.
    static func leads(of lanes: [Int], on connection: PostgresConnection) async throws -> [Int: Int] {
        var leads: [Int: Int] = [:]
        for row in try await connection.query(
            """
            select r.lane, s.lane as lead from unnest(\(lanes)) r(lane)
            cross join lateral (select event_key, audience_lane from audience_lanes where lane = r.lane offset 0) v
            cross join lateral (select lane from audience_lanes
                where event_key = v.event_key and audience_lane = v.audience_lane and is_lead offset 0) s
            """)
        {
            leads[try row.decode("lane")] = try row.decode("lead")
        }
        return leads
    }

    /// The due members of a lane. Members that are no longer in the crowd are removed from the queue.
    static func members(
        of lane: Int, _ claim: LaneClaim, size: Int, on connection: PostgresConnection
    ) async throws -> [CrowdShard.Member] {
        // The rows of the queue are locked until the commit. If a due activity is reported meanwhile, the report waits
        // for the lock and then queues the activity again.
        let due: [Int] = try await connection.query(
            """
            select member from fan_out_queue
            where run = \(CrowdRows.run(lane)) and delivery is null and due_at <= \(claim.at)
            order by due_at, member limit \(size) for update skip locked
            """
        ).map { try $0.decode("member") }
        guard !due.isEmpty else { return [] }
        let members = try await CrowdRows.members(due, of: lane, on: connection)
        let gone = Set(due).subtracting(members.map(\.activity)).sorted()
        if !gone.isEmpty {
            try await connection.query(
                "delete from fan_out_queue where member = any(\(gone)) and run = \(CrowdRows.run(lane))")
        }
        return members
    }

    /// Removes the due members of a lane from the queue when there is nothing to send to them.
    static func forget(_ lane: Int, _ claim: LaneClaim) -> PostgresQuery {
        """
        delete from fan_out_queue
        where run = \(CrowdRows.run(lane)) and delivery is null and due_at <= \(claim.at)
        """
    }

    /// Removes from the queue the members that a shard of the lane's message reaches, unless they joined with another
    /// token after the shard was read. Call it under the lane's lock. If a report of a member is being written at this
    /// moment, its transaction has locked the member's row. The row is skipped, not waited for, because the report
    /// queues the member again. If nobody waits on the lane, no row is searched.
    static func reach(
        _ members: [CrowdShard.Member], of lane: Int, on connection: PostgresConnection
    ) async throws {
        let waiting: Set<Int> = Set(
            try await connection.query(
                """
                select member from fan_out_queue
                where member = any(\(members.map(\.activity))) and run + 0 = \(CrowdRows.run(lane)) and (
                    exists (select from fan_out_queue where run = \(CrowdRows.run(lane)) and delivery is null)
                    or exists (select from fan_out_queue where run = \(CrowdRows.run(lane)) and delivery is not null))
                for update skip locked
                """
            ).map { try $0.decode("member") })
        guard !waiting.isEmpty else { return }
        // This is a separate statement, so that it sees the tokens that were stored before the rows were locked.
        try await connection.query(joined(members.filter { waiting.contains($0.activity) }, of: lane))
    }

    // MARK: Settling

    /// Locks members' rows of the queue. Run this statement before `joined`, so that `joined` sees the token of a
    /// member that joined again meanwhile.
    static func lock(_ members: [CrowdShard.Member], of lane: Int) -> PostgresQuery {
        """
        select from fan_out_queue where member = any(\(members.map(\.activity))) and run + 0 = \(CrowdRows.run(lane))
        order by member for update
        """
    }

    /// Removes members that got the content, unless they joined another lane or with another token meanwhile. A plan
    /// that was made for an empty table would use the index by run and read all members of the run. `+ 0` prevents the
    /// use of that index.
    static func joined(_ members: [CrowdShard.Member], of lane: Int) -> PostgresQuery {
        """
        delete from fan_out_queue j
        using unnest(\(members.map(\.activity)), \(members.map(\.token.hex))) as r(activity, token)
        where j.member = r.activity and j.member = any(\(members.map(\.activity)))
            and j.run + 0 = \(CrowdRows.run(lane))
            and (select update_token is null or update_token = decode(r.token, 'hex') from activities
                where id = r.activity)
        """
    }

    /// Postpones members that did not get the content: they are tried again after `pause`.
    static func postponed(_ members: [CrowdShard.Member], of lane: Int, now: Date) -> PostgresQuery {
        """
        update fan_out_queue set due_at = \(now.addingTimeInterval(pause))
        where member = any(\(members.map(\.activity))) and run + 0 = \(CrowdRows.run(lane))
        """
    }

    /// Records until when members that want few pushes get no further push.
    static func rest(_ members: [(activity: Int, until: Date)]) -> PostgresQuery {
        """
        update activities a set rests_until = r.until
        from unnest(\(members.map(\.activity)), \(members.map(\.until))) as r(id, until)
        where a.id = r.id and a.id = any(\(members.map(\.activity)))
        """
    }
}

/// Members that still wait for a message that was sent to the crowd's other members. Their rows of `fan_out_queue` have
/// the message's delivery. They wait because APNs did not accept their push, or because they want few pushes and got
/// one a short time ago. The rows are written under the lock of the crowd's lane.
enum CrowdWaits {
    /// The due members of a message. Members that are no longer in the crowd are removed from the queue.
    static func shard(
        of delivery: Int, on lane: Int, size: Int, at now: Date, on connection: PostgresConnection
    ) async throws -> CrowdRows.Shard {
        var attempts: [Int: Int] = [:]
        for row in try await connection.query(
            """
            select member, attempts from fan_out_queue
            where run = \(CrowdRows.run(lane)) and delivery = \(delivery) and due_at <= \(now)
            order by due_at, member limit \(size)
            """)
        {
            attempts[try row.decode("member")] = try row.decode("attempts")
        }
        guard !attempts.isEmpty else {
            let isLeft = try await nextDue(of: delivery, on: lane, besides: [], on: connection) != nil
            return CrowdRows.Shard(step: isLeft ? .queue(taken: 0, rested: 0) : .emptyQueue)
        }
        let ids = attempts.keys.sorted()
        var members = try await CrowdRows.members(ids, of: lane, on: connection)
        for index in members.indices { members[index].attempts = attempts[members[index].activity] ?? 0 }
        let left = Set(ids).subtracting(members.map(\.activity)).sorted()
        if !left.isEmpty { try await connection.query(done(left, with: delivery, on: lane)) }
        return CrowdRows.Shard(
            members: members, step: .queue(taken: ids.count, rested: attempts.values.count { $0 == 0 }))
    }

    /// When the first member that waits for a message is due, not counting `members`; `nil`: no other member waits.
    static func nextDue(
        of delivery: Int, on lane: Int, besides members: [Int], on connection: PostgresConnection
    ) async throws -> Date? {
        try await connection.query(
            """
            select due_at from fan_out_queue where run = \(CrowdRows.run(lane)) and delivery = \(delivery)
                and member <> all(\(members)) order by due_at limit 1
            """
        ).first?.decode("due_at")
    }

    /// Queues members for a message. A member that joined with another token meanwhile gets the newest content
    /// separately.
    static func queue(
        _ members: [(activity: Int, attempts: Int, at: Date)], for delivery: Int, on lane: Int
    ) -> PostgresQuery {
        """
        insert into fan_out_queue as q (run, member, attempts, due_at, delivery)
        select \(CrowdRows.run(lane)), activity, attempts, due_at, \(delivery)
        from unnest(\(members.map(\.activity)), \(members.map(\.attempts)), \(members.map(\.at)))
            as r(activity, attempts, due_at)
        order by activity
        on conflict (member, run) do update set attempts = excluded.attempts, due_at = excluded.due_at,
            delivery = excluded.delivery
        where q.delivery is not null or excluded.attempts = 0
        """
    }

    /// Removes from the queue members that got the message, or will not get it.
    static func done(_ members: [Int], with delivery: Int, on lane: Int) -> PostgresQuery {
        """
        delete from fan_out_queue where member = any(\(members)) and run + 0 = \(CrowdRows.run(lane))
            and delivery + 0 = \(delivery)
        """
    }

    /// Removes from the queue members that wait for an earlier message than this delivery.
    static func forget(before delivery: Int, on lane: Int) -> PostgresQuery {
        "delete from fan_out_queue where run = \(CrowdRows.run(lane)) and delivery < \(delivery)"
    }
}
