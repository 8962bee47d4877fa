internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension StartStore {
    /// Opens the runs whose time has come. Then leases due runs of an environment, closes leased runs whose time is
    /// over, and takes the starts of each other leased run that have been due for the longest. The returned shards are
    /// already recorded as under way.
    func claim(_ claim: ShardClaim) async throws -> [StartShard] {
        var claim = claim
        claim.at = claim.at.inMicroseconds
        claim.leasedUntil = claim.leasedUntil.inMicroseconds
        try await open(now: claim.at)
        var shards: [StartShard] = []
        do {
            for _ in 0..<claim.limit {
                guard let step = try await takeTurn(claim) else { break }
                guard let shard = step.shard else { continue }
                shards.append(shard)
                claim.holding?.append(shard.run)
            }
        } catch  where !shards.isEmpty {
            // A later run failed. The shards that were taken before are committed, so they must be sent. Otherwise
            // their installations would become `unknown`.
        }
        return shards
    }

    /// Processes one run in its own transaction. The run's shard is committed when this function returns, even if the
    /// next run fails.
    ///
    /// - Returns: `nil`: no run is due. A result without a shard: the run had nothing to send.
    private func takeTurn(_ claim: ShardClaim) async throws -> (run: Int, shard: StartShard?)? {
        try await dispatch.transaction { connection in
            guard let id = try await connection.query(Self.lockDue(claim)).first?.decode(Int.self, "id"),
                let run = try StartRun(try await connection.query(StartRun.load(id)), claim)
            else { return nil }
            return (id, try await Self.turn(of: run, claim, on: connection))
        }
    }

    /// Selects and locks the due run that has waited for the longest. A run is due at `due_at`, or when the first of its
    /// starts is due. A run that another replica has leased is skipped. A run of which this replica sends fewer shards
    /// than `shardsUnderWay` is due if it has more to send. If this replica has leased a run but does not hold it
    /// (`ShardClaim.holding`), the run is due at once, because the answer to the claim that leased it was lost.
    private static func lockDue(_ claim: ShardClaim) -> PostgresQuery {
        let held = Dictionary(grouping: claim.holding ?? [], by: \.self).mapValues(\.count)
        let isHeld: PostgresQuery = "r.id = any(\(held.keys.sorted()))"
        let isLost: PostgresQuery = "\(claim.holding != nil) and r.leased_by = \(claim.replica) and not \(isHeld)"
        let hasRoom: PostgresQuery = """
            r.leased_by = \(claim.replica) and r.id = any(\(held.filter { $0.value < shardsUnderWay }.keys.sorted()))
            """
        return """
            select r.id from start_runs r
            where r.due_at is not null and (not \(isHeld) or \(hasRoom))
                and (r.leased_until is null or r.leased_until <= \(claim.leasesEndedBefore) or \(isLost) or \(hasRoom))
                and (select environment from app_environments
                    where id = r.app and bundle_id <> all(\(claim.avoiding.map(\.rawValue))))
                    = \(claim.environment.rawValue)::environment
                and (r.due_at <= \(claim.at) or \(nextStart) <= \(claim.at) or \(isLost)
                    or \(hasRoom) and r.cursor is not null)
            order by r.due_at limit 1 for no key update skip locked
            """
    }

    private static func turn(
        of run: StartRun, _ claim: ShardClaim, on connection: PostgresConnection
    ) async throws -> StartShard? {
        if run.leasedBy != nil, !run.isUnderWay {
            let isUnsent = claim.holding != nil && run.leasedBy == claim.replica
            try await connection.query(endLease(of: run, isUnsent: isUnsent, now: claim.at))
        }
        let open = run.audiences.open(at: claim.at)
        guard let first = open.first?.standing, let declaration = first.declaration, let window = first.window else {
            guard !run.isUnderWay else { return nil }
            try await connection.pipeline([inherit(run.id), close(run, claim)])
            return run.shard(until: claim.at)
        }
        var (shard, waits) = (run.shard(until: window.until), [Date]())
        for (_, turn) in open {
            switch turn {
            case .close: break
            case .wait(let date, _): waits.append(date)
            case .send(let push): shard.pushes.append(push)
            }
        }
        if run.isUnderWay, shard.pushes.isEmpty || run.isClosed { return nil }
        if shard.pushes.isEmpty {
            let date = waits.min() ?? claim.at
            try await connection.query(rest(run, until: run.isClosed ? nextLook(until: date, now: claim.at) : date))
            return nil
        }
        if run.isClosed {
            // The window is open again, because a message came after hours without one. `open` opens the run.
            try await connection.pipeline([reopen(run, now: claim.at), rest(run, until: later(than: claim.at))])
            return nil
        }
        (shard.attributesType, shard.alerts) = (declaration.attributesType, LocaleLookup(declaration.localAlerts))
        return try await send(shard, among: open.map(\.standing.variant), of: run, claim, on: connection)
    }

    /// Makes `open` look at the run's start. A transaction that holds the start's row may wait for this run, so a locked
    /// row is skipped.
    private static func reopen(_ run: StartRun, now: Date) -> PostgresQuery {
        """
        update event_starts set opens_at = \(now) where event_key = any(array(
            select event_key from event_starts
            where event_key = (select event_key from start_runs where id = \(run.id)) and stopped_at is null
            for no key update skip locked))
        """
    }

    /// Leases the next shard. Its members are the next members of the audiences that get its pushes.
    ///
    /// - Parameter variants: those of all audiences that are not over.
    /// - Returns: `nil`: nobody gets a push now.
    private static func send(
        _ empty: StartShard, among variants: [String], of run: StartRun, _ claim: ShardClaim,
        on connection: PostgresConnection
    ) async throws -> StartShard? {
        var (run, shard) = (run, empty)
        // Broadcasts are locked in a fixed order, so that no two transactions deadlock.
        let contents = Set(shard.pushes.compactMap(\.content)).sorted { $0.uuidString < $1.uuidString }
        for content in contents where try await !CrowdNews.hold(content, on: connection) {
            // The broadcast whose content a push would show has just been withdrawn. The run is due again after
            // `StartStanding.patience`.
            if !run.isUnderWay { try await connection.query(rest(run, until: later(than: claim.at))) }
            return nil
        }
        // An audience that followers wait for can start now, or no longer exists.
        if !run.passedOver.isSubset(of: Set(variants).subtracting(shard.pushes.map(\.variant))) {
            run.passedOver = []
            try await connection.query(resume(run, now: claim.at))
        }
        try await restart(&run, shard, claim, on: connection)
        shard.members = try await nextMembers(of: &run, shard, among: variants, claim, on: connection)
        guard shard.members.isEmpty else {
            let shown = Set(shard.members.map(\.form.push)).map { shard.pushes[$0].content }
            try await connection.pipeline(
                [lease(run, claim)] + contents.filter(shown.contains).map(CrowdNews.show))
            return shard
        }
        guard !run.isUnderWay else {
            try await connection.query("update start_runs set \(progress(run)) where id = \(run.id)")
            return nil
        }
        let next = run.passedOver.isEmpty ? nextLook(until: shard.until, now: claim.at) : later(than: claim.at)
        let isDone = run.cursor == nil && run.restartAfter == nil
        try await connection.query(idle(run, until: isDone ? next : claim.at))
        if isDone { try await connection.query(finish(run.id, now: claim.at)) }
        return nil
    }

    /// The most shards of a run that a replica sends at a time: while APNs answers the pushes of one, the database
    /// takes the next.
    private static let shardsUnderWay = 2

    /// Ends the lease of a run with the last of its shards.
    static let endShard: PostgresQuery = """
        shards = shards - 1, leased_by = case when shards > 1 then leased_by end,
        leased_until = case when shards > 1 then leased_until end
        """

    /// When a run that waits for an audience is due again.
    static func later(than now: Date) -> Date { now.addingTimeInterval(StartStanding.patience) }

    /// A run with nothing to do is due once a minute, because no signal comes when its event ends.
    static func nextLook(until: Date, now: Date) -> Date { min(until, now.addingTimeInterval(60)) }

    /// Ends a lease whose replica has no shard of it. If that replica has died, the starts of the last shard become
    /// `unknown`, because nobody knows whether these installations got a start.
    ///
    /// - Parameter isUnsent: the starts become pending again, because the answer to the commit that leased the shard
    ///   never reached this replica, so nothing was sent to them.
    private static func endLease(of run: StartRun, isUnsent: Bool, now: Date) -> PostgresQuery {
        """
        with lost as (
            update starts set state = case when \(isUnsent) then 'pending' else 'unknown' end::start_state,
                due_at = case when \(isUnsent) then \(now)::timestamptz end,
                reason = case when not \(isUnsent) then 'the replica that waited for the answer died' end
            where run = \(run.id) and state = 'sending' returning 1
        ), counted as (select count(*) as n from lost where not \(isUnsent))
        update start_runs set leased_by = null, leased_until = null, shards = 0,
            started_at = case when n > 0 then coalesce(started_at, \(now)) else started_at end,
            rate_from = case when n > 0 then coalesce(rate_from, \(now)) else rate_from end,
            rate_answered = rate_answered + case when rate_until is null then n else 0 end
        from counted where id = \(run.id)
        """
    }

    /// Makes the followers due whose audiences could not start before.
    private static func resume(_ run: StartRun, now: Date) -> PostgresQuery {
        "update starts set due_at = \(now) where run = \(run.id) and state = 'pending' and due_at is null"
    }

    private static func idle(_ run: StartRun, until date: Date, rests: Bool = false) -> PostgresQuery {
        """
        update start_runs set leased_by = null, leased_until = null, shards = 0, due_at = \(date), rests = \(rests),
            \(progress(run))
        where id = \(run.id)
        """
    }

    /// Lets a run wait that cannot send now, whatever starts are due.
    private static func rest(_ run: StartRun, until date: Date) -> PostgresQuery { idle(run, until: date, rests: true) }

    private static func lease(_ run: StartRun, _ claim: ShardClaim) -> PostgresQuery {
        """
        update start_runs set leased_by = \(claim.replica), leased_until = \(claim.leasedUntil),
            leases = leases + \(run.isUnderWay ? 0 : 1), shards = shards + 1, due_at = \(claim.leasedUntil), rests = false,
            finished_at = null, \(progress(run))
        where id = \(run.id)
        """
    }

    /// The columns that record how far a run has read its followers (`cursor`, `passed_over`) and the activities to
    /// restart (`restart_after`).
    private static func progress(_ run: StartRun) -> PostgresQuery {
        """
        cursor = \(run.cursor), passed_over = \(run.passedOver.sorted()), restart_after = \(run.restartAfter)
        """
    }

    /// If nothing is left to send, records that.
    static func finish(_ run: Int, now: Date) -> PostgresQuery {
        """
        update start_runs r set finished_at = coalesce(r.finished_at, \(now)),
            rate_until = coalesce(r.rate_until, case when r.rate_from is not null then \(now) end)
        where r.id = \(run) and r.shards = 0 and r.cursor is null and r.passed_over = '{}' and r.restart_after is null
            and \(firstPending) is null
        """
    }

    /// Closes a run: no more starts are sent. Pending starts stay, for the case that the run is opened again.
    /// Followers without a start are counted later, under a lease and without the lock on the run's row, because there
    /// may be a million followers. If the replica that counts dies, another replica counts again.
    private static func close(_ run: StartRun, _ claim: ShardClaim) -> PostgresQuery {
        """
        update start_runs r set closed_at = coalesce(r.closed_at, \(claim.at)), rests = true,
            finished_at = coalesce(r.finished_at, \(claim.at)),
            rate_until = coalesce(r.rate_until, case when r.rate_from is not null then \(claim.at) end),
            leased_by = \(claim.replica), leased_until = \(claim.leasedUntil), shards = 1, due_at = \(claim.leasedUntil)
        where r.id = \(run.id)
        """
    }
}

extension StartStore {
    /// Ends a run that was closed. When its event is over, stores the counts of followers without a start as they are
    /// now, because the set of followers changes later. Until then the run is looked at once a minute: reports count who
    /// came too late. If the run was opened again meanwhile, only its lease is ended.
    func end(_ run: Int, replica: UUID, now: Date) async throws {
        let counted = try await reports.transaction { connection -> Contract.IneligibleCounts? in
            try await connection.query("set transaction isolation level repeatable read")
            let rows = try await connection.query(
                """
                select r.app, e.topics, r.attributes_type, e.ended_at is null and e.cancelled_at is null as is_open
                from start_runs r join events e on e.key = r.event_key where r.id = \(run)
                """)
            guard let row = rows.first, try !row.decode(Bool.self, "is_open") else { return nil }
            return try await Self.missing(
                run: run, app: try row.decode("app"), topics: try row.decode("topics"),
                attributesType: try row.decode("attributes_type"), on: connection)
        }
        try await dispatch.query(
            """
            update start_runs set \(Self.endShard),
                due_at = case when closed_at is null then due_at
                    when \(counted == nil) then \(Self.nextLook(until: .distantFuture, now: now)) end,
                too_old = case when closed_at is not null then \(counted?.system) end,
                disabled = case when closed_at is not null then \(counted?.disabled) end,
                without_token = case when closed_at is not null then \(counted?.noToken) end,
                too_late = case when closed_at is not null then \(counted?.tooLate) end
            where id = \(run) and leased_by = \(replica)
            """)
    }
}
