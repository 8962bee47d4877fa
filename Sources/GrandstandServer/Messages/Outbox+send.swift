internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension Outbox {
    /// Leases due lanes of one environment and takes the head of each. At most one message of a lane is under way.
    ///
    /// Apps take turns, so that a burst of one app does not delay others. An app's lanes are ordered by `Lane.rank`,
    /// then by how long they are due. Under a limit, a lane that has waited long comes before more urgent lanes that
    /// have not waited long (`AppLimit`).
    func claim(_ claim: WorkClaim) async throws -> [ClaimedDelivery] {
        var claim = claim
        claim.at = claim.at.asStored
        return try await dispatch.transaction {
            [claim] connection -> (loaded: [Lane], lanes: [Lane], taken: [(lane: Lane, message: LaneMessage)]) in
            let due = try await connection.pipeline(
                (claim.leasesEndedBefore > .distantPast ? [Self.reclaim(claim)] : [])
                    + [Self.lockDue(claim)]
            ).last
            guard let ids: [Int] = try due?.map({ try $0.decode("lane") }), !ids.isEmpty else {
                return ([], [], [])
            }
            let rows = try await connection.pipeline([Self.planning(rows: ids.count)] + LaneRows.selectLocked("\(ids)"))
            let loaded = try LaneRows.lanes(rows)
            var lanes = loaded
            let taken = lanes.indices.compactMap { index in
                lanes[index].take(claim, requestID: UUID.drawn).map { (lane: lanes[index], message: $0) }
            }
            return (loaded, lanes, taken)
        } closing: { [claim] loaded, lanes, taken in
            LaneRows.write(lanes, loaded: loaded, at: claim.at) + ClaimedDelivery.select(taken)
        } _: { [claim] work, rows in
            try ClaimedDelivery.read(rows, of: work.taken, by: claim.replica)
        }
    }

    /// When the next lane of the environment is due; `nil`: none waits.
    ///
    /// - Parameter limits: lanes of an app that may send nothing now are left out.
    func nextDue(in environment: APNsEnvironment, limits: [AppLimit] = []) async throws -> Date? {
        try await dispatch.query(
            """
            with recursive \(Self.appsWithWork(in: environment))
            select least((
                select min((select min(due_at) from audiences where environment = \(environment.rawValue)::environment
                    and bundle_id = a.bundle_id and rank = r.rank and due_at is not null))
                from apps a cross join (values (0), (1), (2)) r(rank)
                where a.bundle_id is not null and a.bundle_id <> all(\(limits.pausedApps))),
                (select d.leased_until from deliveries d cross join lateral (
                    select from audiences where lane = d.lane and due_at is null
                        and environment = \(environment.rawValue)::environment offset 0) l
                where d.state = 'sending' and d.tokens is null and d.leased_until is not null order by d.leased_until limit 1)) as at
            """
        ).first?.decode(Date?.self, "at")
    }

    /// If a dead replica left a lane's message in progress, makes the lane due again. The lane's waiting time counts
    /// from the end of the lease. A lane has no due time while one of its messages is under way (`LaneRows.columns`). Therefore
    /// these lanes are found by their messages, not by a due time.
    private static func reclaim(_ claim: WorkClaim) -> PostgresQuery {
        """
        update audiences set due_at = leased_until where lane = any(array(
            select l.lane from (
                select lane from deliveries
                where state = 'sending' and leased_until <= \(claim.at) and tokens is null) d
            cross join lateral (select lane from audiences where lane = d.lane and due_at is null and leased_until <= \(claim.at)
                and environment = \(claim.environment.rawValue)::environment
                for no key update skip locked) l))
        """
    }

    /// Apps with a lane that has a due time. The query needs as many index probes as there are such apps.
    private static func appsWithWork(in environment: APNsEnvironment) -> PostgresQuery {
        """
        apps as (
            (select bundle_id from audiences where environment = \(environment.rawValue)::environment and due_at is not null
            order by bundle_id limit 1)
            union all
            select (select l.bundle_id from audiences l where l.environment = \(environment.rawValue)::environment
                and l.due_at is not null and l.bundle_id > a.bundle_id order by l.bundle_id limit 1)
            from apps a where a.bundle_id is not null
        )
        """
    }

    /// Locks due lanes. Each app with due lanes gets an equal share of `claim.limit`, and its lanes are taken in order of
    /// ranks. If an app does not use its whole share, the rest goes to the next claim, which follows at once. If there are
    /// more apps than `claim.limit`, the apps are chosen at random, not in alphabetic order.
    ///
    /// An app that APNs throttles comes first and gets as many lanes as may send now. Its lane that has waited longest
    /// comes first. For this order, up to `patience` seconds are added to the due times of lower ranks, so lanes without
    /// alerts wait longer. This is the time in which this replica's rate sends one message of each waiting lane. The
    /// patience of other apps is so long that only ranks count.
    ///
    /// - Returns: the statement; its rows have `lane`.
    private static func lockDue(_ claim: WorkClaim) -> PostgresQuery {
        let (now, limits) = (claim.at, claim.limits)
        let ofApp: PostgresQuery =
            "environment = \(claim.environment.rawValue)::environment and bundle_id = a.bundle_id"
        func due(_ rank: Lane.Rank) -> PostgresQuery {
            """
            (select due_at from audiences where \(ofApp) and rank = \(rank.rawValue) and due_at is not null
                order by due_at limit 1)
            """
        }
        func lanes(_ rank: Lane.Rank, later: Double) -> PostgresQuery {
            """
            select lane, due_at + make_interval(secs => a.patience * \(later)) as turn from (
                select lane, due_at from audiences where \(ofApp) and rank = \(rank.rawValue) and due_at <= \(now)
                order by due_at limit a.share for no key update skip locked) ranked
            """
        }
        return """
            with recursive \(appsWithWork(in: claim.environment)),
            ready as (
                select a.bundle_id, coalesce(l.allowance, greatest(1, \(claim.limit)
                        / (count(*) filter (where l.allowance is null) over () + \(limits.count)))) as share,
                    case when l.allowance is null then 1e9 else (
                        select count(*) / l.per_second from audiences where \(ofApp) and due_at <= \(now)) end as patience
                from apps a left join unnest(\(limits.map(\.bundleID.rawValue)), \(limits.map(\.allowance)),
                    \(limits.map(\.perSecond))) as l(bundle_id, allowance, per_second) on l.bundle_id = a.bundle_id
                where least(\(due(.ringing)), \(due(.immediate)), \(due(.quiet))) <= \(now)
                    and l.allowance is distinct from 0
                order by l.allowance is null, random()
            )
            select d.lane from ready a cross join lateral (
                select lane from (
                    \(lanes(.ringing, later: 0))
                    union all
                    \(lanes(.immediate, later: 0.5))
                    union all
                    \(lanes(.quiet, later: 1))) waiting
                order by turn limit a.share) d
            limit \(claim.limit)
            """
    }
}

extension Outbox {
    /// Records what became of deliveries. Lanes that another transaction has locked are skipped, so no app's verdicts wait
    /// for a lock on another app's lane.
    ///
    /// The commit of verdicts does not wait for the disk. The commit of a claim does wait, and writes all earlier commits
    /// to the disk, too. So a crash of PostgreSQL can lose only settlements that are newer than the newest claim. A
    /// delivery whose settlement is lost is `sending` again. It is sent again with the same timestamp and request ID; the
    /// repeated message changes nothing on a device.
    ///
    /// - Returns: the lanes that another transaction has locked. Nothing is recorded for them.
    @discardableResult
    func tryRecord(_ deliveries: [ClaimedDelivery]) async throws -> Set<Int> {
        let now = (deliveries.map(\.settledAt).max() ?? .distantPast).asStored
        let byLane = Dictionary(grouping: deliveries, by: \.lane)
        let unsent = deliveries.filter { $0.verdict == nil }
        return try await dispatch.transaction {
            connection -> (loaded: [Lane], lanes: [Lane], others: Set<Int>, doubts: [UUID: String]) in
            let (free, others) = try await LaneRows.loadSkipLocked(
                Array(byLane.keys),
                after: [
                    "select set_config('synchronous_commit', \(unsent.isEmpty ? "off" : "on"), true)",
                    Self.planning(rows: byLane.count),
                ], on: connection)
            let loaded = free.filter { lane in
                byLane[lane.id]?.contains { $0.replica == lane[.channel].lease?.replica } ?? false
            }
            // By channel: the reason that APNs gave when it did not know the channel. Such a channel is in doubt.
            var (lanes, doubts) = (loaded, [UUID: String]())
            for index in lanes.indices {
                for delivery in byLane[lanes[index].id] ?? [] {
                    guard let doubt = lanes[index].settle(delivery, at: now), let channel = lanes[index].channel else {
                        continue
                    }
                    doubts[channel.id] = doubt
                }
            }
            return (loaded, lanes, others, doubts)
        } closing: { settled in
            var topics = Set(unsent.map { WakeTopic.lanes($0.address.environment) })
            // If a lane is fenced, its channel may retire once no message to the channel is under way. So the channels'
            // loop must be woken.
            if !settled.doubts.isEmpty || settled.lanes.contains(where: { $0.fencedAt != nil }) {
                topics.insert(.channels)
            }
            return LaneRows.write(settled.lanes, loaded: settled.loaded, at: now)
                + (settled.doubts.isEmpty ? [] : [Self.doubt(settled.doubts, now: now)])
                + (topics.isEmpty ? [] : [WakeUps.notify(topics)])
        } _: { settled, _ in
            wakeUps.wakeLocal(Set(settled.lanes.filter { $0.dueTime(at: now) != nil }.flatMap(\.topics)))
            return settled.others
        }
    }

    /// Records that APNs refused messages because of these channels. A reconciliation then checks the channels, because
    /// one refusal proves nothing. A channel that another transaction has locked is left to the next refusal.
    private static func doubt(_ reasons: [UUID: String], now: Date) -> PostgresQuery {
        let ids = Array(reasons.keys)
        return """
            update channels c set doubted_at = \(now), reason = r.reason,
                examine_at = greatest(\(now), c.examine_at)
            from unnest(\(ids), \(ids.map { reasons[$0] })) as r(id, reason)
            where c.id = r.id
                and c.id = any(array(
                    select id from channels where id = any(\(ids)) order by id for no key update skip locked))
                and c.state in \(Channel.State.sql(.takesMessages)) and c.doubted_at is null
            """
    }
}
