internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension Outbox {
    /// Leases due lanes of one environment and takes the head of each. At most one message of a lane is under way.
    ///
    /// Apps take turns, so that a burst of one app does not delay others. An app's lanes are ordered by `Lane.rank`,
    /// then by how long they are due. Under a limit, a lane that has waited long comes before more urgent lanes that
    /// have not waited long (`LaneLimit`).
    func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery] {
        var claim = claim
        claim.at = claim.at.inMicroseconds
        return try await dispatch.transaction {
            [claim] connection -> (loaded: [Lane], lanes: [Lane], taken: [(lane: Lane, message: LaneMessage)]) in
            let due = try await connection.pipeline(
                (claim.adopts ? [Self.adopt(claim)] : []) + [Self.lockDue(claim)]
            ).last
            guard let ids: [Int] = try due?.map({ try $0.decode("lane") }), !ids.isEmpty else {
                return ([], [], [])
            }
            let rows = try await connection.pipeline([Self.planning(rows: ids.count)] + LaneRows.loadLocked("\(ids)"))
            let loaded = try LaneRows.lanes(rows)
            var lanes = loaded
            let taken = lanes.indices.compactMap { index in
                lanes[index].take(claim, requestID: UUID.drawn).map { (lane: lanes[index], message: $0) }
            }
            return (loaded, lanes, taken)
        } closing: { [claim] loaded, lanes, taken in
            LaneRows.write(lanes, loaded: loaded, at: claim.at) + ClaimedDelivery.reading(taken)
        } _: { [claim] work, rows in
            try ClaimedDelivery.read(rows, of: work.taken, by: claim.replica)
        }
    }

    /// When the next lane of the environment is due; `nil`: none waits.
    ///
    /// - Parameter limits: lanes of an app that may send nothing now are left out.
    func nextDue(in environment: APNsEnvironment, limits: [LaneLimit] = []) async throws -> Date? {
        try await dispatch.query(
            """
            with recursive \(Self.appsWithWork(in: environment))
            select least((
                select min((select min(due_at) from audiences where environment = \(environment.rawValue)::environment
                    and bundle_id = a.bundle_id and rank = r.rank and due_at is not null))
                from apps a cross join \(Self.ranks)
                where a.bundle_id is not null \(Self.isUnlimited(limits))), \(Self.nextDue(of: limits, in: environment)),
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
    private static func adopt(_ claim: LaneClaim) -> PostgresQuery {
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

    /// When the next lane of apps under a rate limit is due, among apps that may send something now.
    private static func nextDue(of limits: [LaneLimit], in environment: APNsEnvironment) -> PostgresQuery {
        let open = limits.filter { $0.allowance > 0 }
        guard !open.isEmpty else { return "null" }
        return """
            (select min((select min(due_at) from audiences where environment = \(environment.rawValue)::environment
                and bundle_id = l.bundle_id and rank = r.rank and due_at is not null))
            from unnest(\(open.map(\.bundleID.rawValue))) as l(bundle_id)
            cross join \(ranks))
            """
    }

    private static let ranks: PostgresQuery = "(values (0), (1), (2)) r(rank)"

    /// The condition that an app `a` has no rate limit.
    private static func isUnlimited(_ limits: [LaneLimit]) -> PostgresQuery {
        limits.isEmpty ? "" : "and a.bundle_id <> all(\(limits.map(\.bundleID.rawValue)))"
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

    /// Locks due lanes, in order of ranks. Each app with due lanes gets an equal share of `claim.limit`. If an app does
    /// not use its whole share, the rest goes to the next claim, which follows at once. If there are more apps than
    /// `claim.limit`, the apps are chosen at random, not in alphabetic order.
    ///
    /// - Returns: the statement; its rows have `lane`.
    private static func lockDue(_ claim: LaneClaim) -> PostgresQuery {
        let now = claim.at
        let environment: PostgresQuery = "\(claim.environment.rawValue)::environment"
        func due(_ rank: Lane.Rank) -> PostgresQuery {
            """
            (select due_at from audiences where environment = \(environment) and bundle_id = a.bundle_id
                and rank = \(rank.rawValue) and due_at is not null order by due_at limit 1)
            """
        }
        func lanes(_ rank: Lane.Rank) -> PostgresQuery {
            """
            select lane from (
                select lane from audiences where environment = \(environment) and bundle_id = r.bundle_id
                    and rank = \(rank.rawValue) and due_at <= \(now)
                order by due_at limit r.share for no key update skip locked) ranked
            """
        }
        let limited: PostgresQuery =
            claim.limits.allSatisfy { $0.allowance == 0 } ? "" : "(\(lockLimited(claim, environment))) union all"
        return """
            with recursive \(appsWithWork(in: claim.environment)),
            ready as (
                select a.bundle_id, greatest(1, \(claim.limit) / (count(*) over () + \(claim.limits.count))) as share
                from apps a
                where least(\(due(.ringing)), \(due(.immediate)), \(due(.quiet))) <= \(now) \(isUnlimited(claim.limits))
                order by random()
            )
            \(limited)
            (select d.lane from ready r cross join lateral (
                \(lanes(.ringing))
                union all
                \(lanes(.immediate))
                union all
                \(lanes(.quiet))
                limit r.share) d)
            limit \(claim.limit)
            """
    }

    /// Locks due lanes of apps that APNs throttles, as many lanes as may send now. The lane that has waited longest
    /// comes first. For this order, up to `patience` seconds are added to the due times of lower ranks, so lanes
    /// without alerts wait longer. This is the time in which this replica's rate sends one message of each waiting lane.
    private static func lockLimited(_ claim: LaneClaim, _ environment: PostgresQuery) -> PostgresQuery {
        let limits = claim.limits.filter { $0.allowance > 0 }
        func lanes(_ rank: Lane.Rank, later: Double) -> PostgresQuery {
            """
            select lane, due_at + make_interval(secs => p.patience * \(later)) as turn from (
                select lane, due_at from audiences where environment = \(environment) and bundle_id = l.bundle_id
                    and rank = \(rank.rawValue) and due_at <= \(claim.at)
                order by due_at limit l.allowance for no key update skip locked) ranked
            """
        }
        return """
            select d.lane from unnest(\(limits.map(\.bundleID.rawValue)), \(limits.map(\.allowance)),
                \(limits.map(\.perSecond))) as l(bundle_id, allowance, per_second)
            cross join lateral (
                select count(*) / l.per_second as patience from audiences
                where environment = \(environment) and bundle_id = l.bundle_id and due_at <= \(claim.at)) p
            cross join lateral (
                select lane from (
                    \(lanes(.ringing, later: 0))
                    union all
                    \(lanes(.immediate, later: 0.5))
                    union all
                    \(lanes(.quiet, later: 1))) waiting
                order by turn limit l.allowance) d
            """
    }
}
