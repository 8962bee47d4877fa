internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

extension StartStore {
    /// Opens the runs whose time has come. Then leases due runs of an environment, closes leased runs whose time is
    /// over, and takes the starts of each other leased run that have been due for the longest. The returned shards are
    /// already recorded as under way.
    func claim(_ claim: WorkClaim) async throws -> [Shard] {
        var claim = claim
        claim.at = claim.at.inMicroseconds
        claim.leasedUntil = claim.leasedUntil.inMicroseconds
        try await open(now: claim.at)
        var shards: [Shard] = []
        do {
            for _ in 0..<claim.limit {
                guard let shard = try await takeTurn(claim) else { break }
                shards += shard
                claim.held? += shard.map(\.owner)
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
    /// - Returns: the run's shard, unless the run had nothing to send; `nil`: no run is due.
    private func takeTurn(_ claim: WorkClaim) async throws -> [Shard]? {
        try await dispatch.transaction { connection in
            guard let id = try await connection.query(Self.lockDue(claim)).first?.decode(Int.self, "id"),
                case let rows = try await connection.query(StartRun.load(id)), let row = rows.first
            else { return nil }
            var run: StartRun = try row.read()
            run.isUnderWay = run.leasedBy == claim.replica && claim.held?.contains(id) ?? false
            let shard = Shard(
                owner: id, lease: run.lastShard + 1, address: try row.read(), deadline: claim.at)
            let (taken, writes) = try await Self.turn(of: run, rows.read(), shard, claim, on: connection)
            try await connection.pipeline(writes)
            return [taken].compactMap(\.self)
        }
    }

    /// Selects and locks the due run that has waited for the longest. A run is due at `due_at`, or when the first of its
    /// starts is due. A run that another replica has leased is skipped. A run of which this replica sends fewer shards
    /// than `shardsUnderWay` is due if it has more to send. If this replica has leased a run but does not hold it
    /// (`WorkClaim.held`), the run is due at once, because the answer to the claim that leased it was lost.
    private static func lockDue(_ claim: WorkClaim) -> PostgresQuery {
        let held = Dictionary(grouping: claim.held ?? [], by: \.self).mapValues(\.count)
        let isHeld: PostgresQuery = "r.id = any(\(held.keys.sorted()))"
        let isLost: PostgresQuery = "\(claim.held != nil) and r.leased_by = \(claim.replica) and not \(isHeld)"
        let hasRoom: PostgresQuery = """
            r.leased_by = \(claim.replica) and r.id = any(\(held.filter { $0.value < shardsUnderWay }.keys.sorted()))
            """
        return """
            select r.id from start_runs r
            where r.due_at is not null and (not \(isHeld) or \(hasRoom))
                and (r.leased_until is null or r.leased_until <= \(claim.leasesEndedBefore) or \(isLost) or \(hasRoom))
                and (select environment from app_environments
                    where id = r.app and bundle_id <> all(\(claim.limits.closed)))
                    = \(claim.environment.rawValue)::environment
                and (r.due_at <= \(claim.at) or \(nextStart) <= \(claim.at) or \(isLost)
                    or \(hasRoom) and r.cursor is not null)
            order by r.due_at limit 1 for no key update skip locked
            """
    }

    /// - Parameter empty: the run's next shard, without pushes and members.
    /// - Returns: the shard, without members if the run closes, and what is written.
    private static func turn(
        of run: StartRun, _ audiences: [StartStanding], _ empty: Shard, _ claim: WorkClaim,
        on connection: PostgresConnection
    ) async throws -> (Shard?, [PostgresQuery]) {
        if run.leasedBy != nil, !run.isUnderWay {
            let isUnsent = claim.held != nil && run.leasedBy == claim.replica
            try await connection.query(endLease(of: run, isUnsent: isUnsent, now: claim.at))
        }
        let open = audiences.open(at: claim.at)
        guard let first = open.first?.standing, let declaration = first.start, let window = first.window else {
            return run.isUnderWay ? (nil, [inherit(run.id)]) : (empty, [inherit(run.id), close(empty, claim)])
        }
        var (pushes, waits) = ([StartPush](), [Date]())
        for (_, turn) in open {
            switch turn {
            case .wait(let date, _): waits.append(date)
            case .send(let push): pushes.append(push)
            }
        }
        if pushes.isEmpty {
            let date = waits.min() ?? claim.at
            return (nil, [rest(run, until: run.isClosed ? nextLook(until: date, now: claim.at) : date)])
        }
        if run.isClosed {
            // The window is open again, because a message came after hours without one. `open` opens the run.
            return (nil, [reopen(run, now: claim.at), rest(run, until: later(than: claim.at))])
        }
        var shard = empty
        (shard.deadline, shard.attributesType) = (window.until, declaration.attributesType)
        return try await send(pushes, in: shard, among: open.map(\.standing.variant), of: run, claim, on: connection)
    }

    /// Makes `open` look at the run's start. A transaction that holds the start's row may wait for this run, so a locked
    /// row is skipped.
    private static func reopen(_ run: StartRun, now: Date) -> PostgresQuery {
        """
        update event_starts set opens_at = \(now) where event_key = any(array(
            select event_key from event_starts where event_key = \(run.eventKey) and stopped_at is null
            for no key update skip locked))
        """
    }

    /// Leases the next shard. Its members are the next members of the audiences that get the pushes.
    ///
    /// - Parameters:
    ///   - empty: the shard without pushes and members.
    ///   - variants: those of all audiences that are not over.
    /// - Returns: the shard, and what is written; `nil`: nobody gets a push now.
    private static func send(
        _ pushes: [StartPush], in empty: Shard, among variants: [String], of run: StartRun, _ claim: WorkClaim,
        on connection: PostgresConnection
    ) async throws -> (Shard?, [PostgresQuery]) {
        var (run, shard) = (run, empty)
        let contents = Set(pushes.compactMap(\.content))
        guard try await connection.query(CrowdNews.hold(contents)).count == contents.count else {
            // The broadcast whose content a push would show has just been withdrawn. The run is due again after
            // `StartStanding.patience`.
            return (nil, [rest(run, until: later(than: claim.at))])
        }
        // An audience that followers wait for can start now, or no longer exists. So all followers are read again.
        if !run.passedOver.isSubset(of: Set(variants).subtracting(pushes.map(\.variant))) {
            (run.passedOver, run.cursor) = ([], 0)
        }
        let shown = try await fill(&shard, of: &run, pushes, among: variants, claim, on: connection)
        guard shard.members.isEmpty else { return (shard, [lease(run, shard, claim), CrowdNews.show(shown)]) }
        let next = run.passedOver.isEmpty ? nextLook(until: shard.deadline, now: claim.at) : later(than: claim.at)
        return (nil, [idle(run, until: run.cursor == nil ? next : claim.at), finish(run.id, now: claim.at)])
    }

    /// The most shards of a run that a replica sends at a time: while APNs answers the pushes of one, the database
    /// takes the next.
    private static let shardsUnderWay = 2

    /// Ends a shard, and with the last one the lease of the run.
    static func ending(_ shard: Shard) -> PostgresQuery {
        """
        shards = array_remove(shards, \(shard.lease)::int), leased_by = case when \(hasOthers) then leased_by end,
        leased_until = case when \(hasOthers) then leased_until end
        """
    }

    /// Whether the run has another shard under way than the one that ends.
    static let hasOthers: PostgresQuery = "cardinality(shards) > 1"

    /// The condition that a replica still has the lease for a shard. A settlement is repeated if its answer was lost, and
    /// finds that its shard has ended.
    static func holds(_ shard: Shard, _ replica: UUID) -> PostgresQuery {
        "id = \(shard.owner) and leased_by = \(replica) and \(shard.lease) = any(shards)"
    }

    /// When a run that waits for an audience is due again.
    static func later(than now: Date) -> Date { now.addingTimeInterval(StartStanding.patience) }

    /// A run with nothing to do is due once a minute, because no signal comes when its event ends.
    static func nextLook(until: Date, now: Date) -> Date { min(until, now.addingTimeInterval(60)) }

    /// Settles the starts of a lease whose replica has no shard of it. If that replica has died, they become `unknown`,
    /// because nobody knows whether these installations got a start.
    ///
    /// - Parameter isUnsent: the starts become pending again, because the answer to the commit that leased the shard
    ///   never reached this replica, so nothing was sent to them.
    private static func endLease(of run: StartRun, isUnsent: Bool, now: Date) -> PostgresQuery {
        """
        update starts set state = case when \(isUnsent) then 'pending' else 'unknown' end::start_state,
            due_at = case when \(isUnsent) then \(now)::timestamptz end,
            reason = case when not \(isUnsent) then 'the replica that waited for the answer died' end
        where run = \(run.id) and state = 'sending'
        """
    }

    /// Lets a run wait. The lease of a run that has a shard under way continues.
    private static func idle(_ run: StartRun, until date: Date, rests: Bool = false) -> PostgresQuery {
        let end: PostgresQuery = """
            leased_by = null, leased_until = null, shards = '{}', due_at = \(date), rests = \(rests),
            """
        return "update start_runs set \(run.isUnderWay ? "" : end) \(progress(run)) where id = \(run.id)"
    }

    /// Lets a run wait that cannot send now, whatever starts are due.
    private static func rest(_ run: StartRun, until date: Date) -> PostgresQuery { idle(run, until: date, rests: true) }

    private static func lease(_ run: StartRun, _ shard: Shard, _ claim: WorkClaim) -> PostgresQuery {
        """
        update start_runs set leased_by = \(claim.replica), leased_until = \(claim.leasedUntil),
            last_shard = \(shard.lease),
            shards = case when \(run.isUnderWay) then shards else '{}' end || \(shard.lease)::int,
            due_at = \(claim.leasedUntil), rests = false, started_at = coalesce(started_at, \(claim.at)),
            finished_at = null, \(progress(run))
        where id = \(run.id)
        """
    }

    /// The columns that record how far a run has read its followers.
    private static func progress(_ run: StartRun) -> PostgresQuery {
        "cursor = \(run.cursor), passed_over = \(run.passedOver.sorted())"
    }

    /// If nothing is left to send, records that.
    static func finish(_ run: Int, now: Date) -> PostgresQuery {
        """
        update start_runs r set \(finishing(at: now))
        where r.id = \(run) and r.shards = '{}' and r.cursor is null and r.passed_over = '{}' and \(firstPending) is null
        """
    }

    private static func finishing(at now: Date) -> PostgresQuery {
        """
        finished_at = coalesce(r.finished_at, \(now)),
            rate_until = coalesce(r.rate_until, case when r.started_at is not null then \(now)::timestamptz end)
        """
    }

    /// Closes a run: no more starts are sent. Pending starts stay, for the case that the run is opened again.
    /// Followers without a start are counted later, under a lease and without the lock on the run's row, because there
    /// may be a million followers. If the replica that counts dies, another replica counts again.
    private static func close(_ shard: Shard, _ claim: WorkClaim) -> PostgresQuery {
        """
        update start_runs r set closed_at = coalesce(r.closed_at, \(claim.at)), rests = true,
            \(finishing(at: claim.at)), leased_by = \(claim.replica), leased_until = \(claim.leasedUntil),
            due_at = \(claim.leasedUntil), last_shard = \(shard.lease), shards = array[\(shard.lease)::int]
        where r.id = \(shard.owner)
        """
    }
}

extension StartStore {
    /// Ends a run that was closed. When its event is over, stores the counts of followers without a start as they are
    /// now, because the set of followers changes later. Until then the run is looked at once a minute: reports count who
    /// came too late. If the run was opened again meanwhile, only its lease is ended.
    func end(_ shard: Shard, replica: UUID, now: Date) async throws {
        let run = shard.owner
        let counted = try await reports.transaction { connection -> PostgresJSON? in
            try await connection.query("set transaction isolation level repeatable read")
            let rows = try await connection.query(
                """
                select r.app, e.topics, r.attributes_type from start_runs r join events e on e.key = r.event_key
                where r.id = \(run) and (e.ended_at is not null or e.cancelled_at is not null)
                """)
            guard let row = rows.first else { return nil }
            let counts = try await Self.missing(
                run: run, app: try row.decode("app"), topics: try row.decode("topics"),
                attributesType: try row.decode("attributes_type"), on: connection)
            return PostgresJSON(bytes: JSONWriter.text(counts))
        }
        try await dispatch.query(
            """
            update start_runs set \(Self.ending(shard)),
                due_at = case when closed_at is null then due_at
                    when \(counted == nil) then \(Self.nextLook(until: .distantFuture, now: now)) end,
                ineligible = case when closed_at is not null then \(counted) end
            where \(Self.holds(shard, replica))
            """)
    }
}

/// The push that the members of one audience get.
struct StartPush: Sendable {
    /// The audience's variant as the column has it: empty for an audience without a variant.
    var variant: String
    /// With the alert for members whose language has no own alert.
    var payload: BroadcastPayload
    /// The alerts by language.
    var alerts: LocaleLookup<[UInt8]>
    /// Apple's ID of the audience's channel; `nil` where activities get tokens.
    var channelID: String?
    /// When the row of this channel was inserted.
    var channelMadeAt: Date?
    /// The broadcast whose content the push shows; `nil`: the push shows the declared content.
    var content: UUID?
    /// `aps.timestamp`; every later update has a higher timestamp.
    var timestamp: Int
    /// The value of `apns-expiration`.
    var expiration: Int

    /// The push for members with this system and locale.
    ///
    /// - Parameter run: starts of different events have different collapse IDs, so a phone that is offline gets all of
    ///   them later.
    func push(hasInput: Bool, locale: String?, run: Int) -> Shard.Push {
        var payload = payload
        if !hasInput { payload.start?.input = nil }
        payload.alert = locale.flatMap(alerts.value) ?? payload.alert
        return Shard.Push(
            body: payload.body(timestamp: timestamp), priority: .immediate, expiration: expiration,
            collapseID: "start-\(run)")
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
    /// Whether the run is closed. If it is, the followers without a start still have to be counted.
    let isClosed: Bool
    /// Variants whose followers wait, because nothing could be started on their audiences yet. A variant is as its column
    /// has it.
    var passedOver: Set<String>
    /// Whether this replica sends a shard of the run at this moment. Then the run's lease continues, and the run does
    /// nothing but send more.
    var isUnderWay = false

    private enum CodingKeys: CodingKey {
        case id, app, eventKey, topics, leasedBy, lastShard, cursor, isClosed, passedOver
    }

    /// A run by its number, with a row for each of its audiences that is also a `StartStanding`.
    static func load(_ id: Int) -> PostgresQuery {
        """
        select r.id, r.app, r.event_key as "eventKey", r.leased_by as "leasedBy", r.last_shard as "lastShard", r.cursor,
            r.closed_at is not null as "isClosed", r.passed_over as "passedOver", \(StartStanding.columns),
            \(ChannelStore.addressColumns)
        from (select * from start_runs where id = \(id)) r
        join app_environments ae on ae.id = r.app \(ChannelStore.addressJoins)
        join events e on e.key = r.event_key
        left join event_starts s on s.event_key = r.event_key
        left join lateral (\(AudienceColumns.started(of: "r.event_key", in: "ae"))) u on true
        \(StartStanding.joins)
        order by u.position
        """
    }
}
