internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension StartStore {
    /// Opens the runs whose time has come. Then leases due runs of an environment. Leased runs whose time is over rest,
    /// or are closed if their events are over. Of each other leased run, the starts are taken that have been due for the
    /// longest. The returned shards are already recorded as under way.
    func claim(_ claim: WorkClaim) async throws -> [Shard] {
        var claim = claim
        claim.at = claim.at.asStored
        claim.leasedUntil = claim.leasedUntil.asStored
        try await openDue(now: claim.at)
        var shards: [Shard] = []
        do {
            for _ in 0..<claim.limit {
                guard let shard = try await claimRun(claim) else { break }
                shards += shard
                claim.held? += shard.map(\.owner)
            }
        } catch  where !shards.isEmpty {
            // A later run failed. The shards that were taken before are committed, so they must be sent. Otherwise
            // their installations would become `unknown`. The next claim meets the error first, and the loop logs it.
        }
        return shards
    }

    /// Processes one run in its own transaction. The run's shard is committed when this function returns, even if the
    /// next run fails.
    ///
    /// - Returns: the run's shard, unless the run had nothing to send; `nil`: no run is due.
    private func claimRun(_ claim: WorkClaim) async throws -> [Shard]? {
        try await dispatch.transaction { connection in
            // Pending starts are read in the order of their index, however few the planner expects.
            let due = try await connection.pipeline([
                "select set_config('enable_bitmapscan', 'off', true)", Self.lockDue(claim),
            ])[1]
            guard let id = try due.first?.decode(Int.self, "id"),
                case let rows = try await connection.query(StartRun.rows(id, claim)), let row = rows.first
            else { return nil }
            let run: StartRun = try row.read()
            let shard = Shard(
                owner: id, number: run.lastShard + 1, address: try row.read(), deadline: claim.at)
            let (taken, writes) = try await Self.nextShard(of: run, rows.read(), shard, claim, on: connection)
            try await connection.pipeline(writes)
            return [taken].compactMap(\.self)
        }
    }

    /// Selects and locks the due run that has waited for the longest. A run is due at `due_at`, or when the first of its
    /// starts is due. A run that another replica has leased is skipped. A run of which this replica sends fewer shards
    /// than `maxShards` is due if it has more to send. If this replica has leased a run but does not hold it
    /// (`WorkClaim.held`), the run is due at once, because the answer to the claim that leased it was lost.
    private static func lockDue(_ claim: WorkClaim) -> PostgresQuery {
        let held = Dictionary(grouping: claim.held ?? [], by: \.self).mapValues(\.count)
        let isHeld: PostgresQuery = "r.id = any(\(held.keys.sorted()))"
        let isLost: PostgresQuery = "\(claim.held != nil) and r.leased_by = \(claim.replica) and not \(isHeld)"
        let hasRoom: PostgresQuery = """
            r.leased_by = \(claim.replica) and r.id = any(\(held.filter { $0.value < maxShards }.keys.sorted()))
            """
        return """
            select r.id from start_runs r
            where r.due_at is not null and (not \(isHeld) or \(hasRoom))
                and (r.leased_until is null or r.leased_until <= \(claim.leasesEndedBefore) or \(isLost) or \(hasRoom))
                and (select environment from app_environments
                    where id = r.app and bundle_id <> all(\(claim.limits.pausedApps)))
                    = \(claim.environment.rawValue)::environment
                and (r.due_at <= \(claim.at) or \(nextStartAt) <= \(claim.at) or \(isLost)
                    or \(hasRoom) and r.cursor is not null)
            order by r.due_at limit 1 for no key update skip locked
            """
    }

    /// - Parameter shard: the run's next shard, without pushes and members.
    /// - Returns: the shard, and what is written; `nil`: nobody gets a push now.
    private static func nextShard(
        of run: StartRun, _ audiences: [StartStanding], _ shard: Shard, _ claim: WorkClaim,
        on connection: PostgresConnection
    ) async throws -> (Shard?, [PostgresQuery]) {
        var (run, shard) = (run, shard)
        // A run with nothing to do is due once a minute, because no signal comes when its event ends.
        let nextLook = claim.at.addingTimeInterval(60)
        if run.leasedBy != nil, !run.isUnderWay {
            let isUnsent = claim.held != nil && run.leasedBy == claim.replica
            try await connection.query(lapse(of: run, isUnsent: isUnsent, now: claim.at))
        }
        guard let step = audiences.step(at: claim.at) else {
            let rest = stop(run, closes: audiences.allSatisfy(\.isEventOver), until: nextLook, now: claim.at)
            return (nil, [inherit(run.id)] + (run.isUnderWay ? [] : [rest]))
        }
        guard let push = step.pushes.first else { return (nil, [wait(run, until: step.notBefore, rests: true)]) }
        let contents = Set(step.pushes.compactMap(\.contentOf))
        guard try await connection.query(CatchUp.lock(contents)).count == contents.count else {
            // The broadcast whose content a push would show has just been withdrawn.
            return (nil, [wait(run, until: claim.at.addingTimeInterval(StartStanding.recheckAfter), rests: true)])
        }
        (shard.deadline, shard.attributesType) = (push.deadline, push.attributesType)
        try await fill(&shard, of: &run, step.pushes, claim, on: connection)
        guard shard.members.isEmpty else { return (shard, [lease(run, shard, claim), CatchUp.markShown(contents)]) }
        return (nil, [wait(run, until: run.cursor == nil ? nextLook : claim.at), finish(run.id, now: claim.at)])
    }

    /// The most shards of a run that a replica sends at a time: while APNs answers the pushes of one, the database
    /// takes the next.
    private static let maxShards = 2

    /// Ends a shard, and with the last one the lease of the run.
    static func ending(_ shard: Shard) -> PostgresQuery {
        """
        shards = array_remove(shards, \(shard.number)::int), leased_by = case when \(hasMoreShards) then leased_by end,
        leased_until = case when \(hasMoreShards) then leased_until end
        """
    }

    /// Whether the run has another shard under way than the one that ends.
    static let hasMoreShards: PostgresQuery = "cardinality(shards) > 1"

    /// The condition that a replica still has the lease for a shard. A settlement is repeated if its answer was lost, and
    /// finds that its shard has ended.
    static func holds(_ shard: Shard, _ replica: UUID) -> PostgresQuery {
        "id = \(shard.owner) and leased_by = \(replica) and \(shard.number) = any(shards)"
    }

    /// Settles the starts of a lease whose replica has no shard of it. If that replica has died, they become `unknown`,
    /// because nobody knows whether these installations got a start.
    ///
    /// - Parameter isUnsent: the starts become pending again, because the answer to the commit that leased the shard
    ///   never reached this replica, so nothing was sent to them. A shard that was sent stays held until its outcomes are
    ///   recorded (`ShardDispatcher.send`).
    private static func lapse(of run: StartRun, isUnsent: Bool, now: Date) -> PostgresQuery {
        """
        update starts set state = case when \(isUnsent) then 'pending' else 'unknown' end::start_state,
            due_at = case when \(isUnsent) then \(now)::timestamptz end,
            reason = case when not \(isUnsent) then 'the replica that waited for the answer died' end
        where run = \(run.id) and state = 'sending'
        """
    }

    /// Lets a run wait. The lease of a run that has a shard under way continues.
    ///
    /// - Parameter rests: the run sends nothing before that time, whatever starts are due.
    private static func wait(_ run: StartRun, until date: Date, rests: Bool = false) -> PostgresQuery {
        let end: PostgresQuery = """
            leased_by = null, leased_until = null, shards = '{}', due_at = \(date), rests = \(rests),
            """
        return "update start_runs set \(run.isUnderWay ? "" : end) cursor = \(run.cursor) where id = \(run.id)"
    }

    private static func lease(_ run: StartRun, _ shard: Shard, _ claim: WorkClaim) -> PostgresQuery {
        """
        update start_runs set leased_by = \(claim.replica), leased_until = \(claim.leasedUntil),
            last_shard = \(shard.number),
            shards = case when \(run.isUnderWay) then shards else '{}' end || \(shard.number)::int,
            due_at = \(claim.leasedUntil), rests = false, started_at = coalesce(started_at, \(claim.at)),
            cursor = \(run.cursor)
        where id = \(run.id)
        """
    }

    /// If nothing is left to send for the first time, records that.
    static func finish(_ run: Int, now: Date) -> PostgresQuery {
        """
        update start_runs r set finished_at = \(now)
        where r.id = \(run) and r.finished_at is null and r.started_at is not null
            and r.shards = '{}' and r.cursor is null and \(firstDueAt) is null
        """
    }

    /// Lets a run rest that is stopped or whose time is over. Pending starts stay, for the case that it goes on.
    ///
    /// - Parameter closes: the event is over, so the run is not looked at until it is opened again.
    private static func stop(_ run: StartRun, closes: Bool, until date: Date, now: Date) -> PostgresQuery {
        """
        update start_runs set leased_by = null, leased_until = null, shards = '{}', rests = true,
            due_at = \(closes ? nil : date), closed_at = \(closes ? now : nil),
            finished_at = coalesce(finished_at, case when started_at is not null then \(now)::timestamptz end)
        where id = \(run.id)
        """
    }
}

/// A locked run.
struct StartRun: Decodable {
    let id, app: Int
    let eventKey: String
    let topics: [String]
    /// The replica that leased the run, and the number of the newest shard.
    let leasedBy: UUID?
    let lastShard: Int
    /// Followers up to this installation were taken into shards; `nil`: all followers were.
    var cursor: Int?
    /// Whether this replica sends a shard of the run at this moment. Then the run's lease continues, and the run does
    /// nothing but send more.
    let isUnderWay: Bool

    /// A run by its number, with a row for each of its audiences that is also a `StartStanding`.
    static func rows(_ id: Int, _ claim: WorkClaim) -> PostgresQuery {
        """
        select r.id, r.app, r.event_key as "eventKey", r.leased_by as "leasedBy", r.last_shard as "lastShard", r.cursor,
            \(claim.held?.contains(id) ?? false) and r.leased_by is not distinct from \(claim.replica) as "isUnderWay",
            \(StartStanding.columns), \(ChannelStore.addressColumns)
        from (select * from start_runs where id = \(id)) r
        join app_environments ae on ae.id = r.app \(ChannelStore.addressJoins)
        join events e on e.key = r.event_key
        left join event_starts s on s.event_key = r.event_key
        left join lateral (\(AudienceColumns.toStart(of: "r.event_key", in: "ae"))) u on true
        \(StartStanding.joins)
        order by u.position
        """
    }
}
