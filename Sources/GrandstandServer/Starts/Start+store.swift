internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// Starts of events in the tables `event_starts`, `start_runs` and `starts`: who got one, who will get one, and which
/// pushes are still due.
///
/// A start is recorded as `sending` before it is sent, so it is sent once. After a crash, a start that was recorded and
/// has no answer is `unknown`.
struct StartStore: ShardStore {
    let database: Database
    /// The connections for claims and results, so that they do not wait behind API requests.
    let dispatch: Database
    /// The connections for queries that count followers.
    let reports: Database
    let answers: StartReports

    init(_ database: Database, dispatch: Database? = nil, reports: Database? = nil) {
        self.database = database
        self.dispatch = dispatch ?? database
        self.reports = reports ?? database
        answers = Self.answerBatch(self.reports)
    }

    func extendLeases(of runs: [Int], replica: UUID, until leasedUntil: Date) async throws {
        let leasedUntil = leasedUntil.asStored
        try await dispatch.query(
            """
            update start_runs set leased_until = \(leasedUntil), due_at = \(leasedUntil)
            where id = any(\(runs)) and leased_by = \(replica)
            """)
    }

    /// The next time at which a start opens or a push is due. The query reads one row of `start_runs` for each start that
    /// is being sent; there are few such starts.
    func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await dispatch.query(
            """
            select least(
                (select opens_at from event_starts where opens_at is not null order by opens_at limit 1),
                (select min(greatest(r.leased_until, least(r.due_at, \(Self.nextStartAt))))
                    from (select * from start_runs where due_at is not null) r
                    cross join lateral (select environment from app_environments where id = r.app offset 0) ae
                    where ae.environment = \(environment.rawValue)::environment)) as at
            """
        ).first?.decode(Date?.self, "at")
    }

    /// When the first pending start of run `r` is due; null: none is pending.
    static let firstDueAt: PostgresQuery =
        "(select due_at from starts where run = r.id and due_at is not null order by due_at limit 1)"

    /// The same; null also while the run rests.
    static let nextStartAt: PostgresQuery = "(case when not r.rests then \(firstDueAt) end)"

    /// The number of installations that follow each topic in an app and environment, the most followed first.
    func topics(of app: AppEnvironment, _ page: PageRequest) async throws -> Contract.Page<Contract.FollowedTopic> {
        let cursor = try page.cursor.map { text throws(Problem) in try PageCursor(text) }
        let rows = try await reports.query(
            """
            select topic, followers from (
                select f.topic, count(*) as followers from follows f
                where f.app = \(InstallationStore.appNumber(of: app)) group by f.topic) t
            where \(cursor?.sortNumber)::bigint is null or followers < \(cursor?.sortNumber)
                or followers = \(cursor?.sortNumber) and topic > \(cursor?.key)
            order by followers desc, topic limit \(page.limit + 1)
            """)
        return Contract.Page(rows: try rows.read(), limit: page.limit) { PageCursor.text($0.followers, $0.topic) }
    }
}

extension StartStore {
    /// Opens the runs of events whose starts are due now. Compares runs that are already open with the starts that
    /// their events declare now.
    func openDue(now: Date) async throws {
        do {
            try await dispatch.transaction { connection in
                // Registrations wait for this transaction, so it opens few starts, and waits for little. An event that is
                // being declared is skipped; the declaration makes it due again.
                let due = try await connection.query(
                    """
                    select event_key from event_starts where opens_at <= \(now)
                    order by opens_at limit 100 for no key update skip locked
                    """)
                guard !due.isEmpty else { return }
                try await connection.pipeline([
                    "set local lock_timeout = '300ms'", Self.openingLock,
                    Self.openRuns(of: try due.map { try $0.decode("event_key") }, now: now),
                ])
            }
        } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
            // A registration takes long, perhaps because its process hangs. All others would wait behind this
            // transaction, so it is tried again a second later.
            try await dispatch.query(
                """
                update event_starts set opens_at = \(now.addingTimeInterval(1)) where event_key = any(array(
                    select event_key from event_starts where opens_at <= \(now)
                    order by opens_at limit 100 for no key update skip locked))
                """)
        }
    }

    /// Opens a run for each app and environment with a chosen audience. Existing runs begin again if they were closed, or
    /// if their topics or attributes type changed. An installation whose start is settled gets no other start.
    private static func openRuns(of keys: [String], now: Date) -> PostgresQuery {
        """
        with opened as (
            insert into start_runs as r (event_key, app, topics, attributes_type, due_at)
            select e.key, ae.id, e.topics, s.attributes_type, \(now)
            from events e join event_starts s on s.event_key = e.key
            cross join lateral (select * from audiences where event_key = e.key offset 0) u
            join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "u"))
            where e.key = any(\(keys)) and e.ended_at is null and e.cancelled_at is null
                and u.starts
            group by e.key, ae.id, s.attributes_type
            on conflict (event_key, app) do update set topics = excluded.topics,
                attributes_type = excluded.attributes_type, due_at = excluded.due_at, cursor = 0, closed_at = null,
                ineligible = null
            where r.closed_at is not null
                or (r.topics, r.attributes_type) is distinct from (excluded.topics, excluded.attributes_type)
        )
        update event_starts set opens_at = null where event_key = any(\(keys))
        """
    }

    // MARK: The lock between registrations and openings of runs

    // Either a follower's rows are committed before a run's followers are read, or the follower's registration finds
    // the run open and adds the follower to the run.

    /// The lock for transactions that write installations and the topics that they follow. Many transactions can hold
    /// it at a time, until their commit.
    static let registrationLock: PostgresQuery = "select pg_advisory_xact_lock_shared(7230518204417735)"

    /// The lock for the transaction that opens a run or makes a run read its followers again. Until this transaction
    /// commits, no other transaction can hold the lock.
    static let openingLock: PostgresQuery = "select pg_advisory_xact_lock(7230518204417735)"
}

/// Starts that a person requests or stops.
extension StartStore {
    /// Sends the event's start now instead of at its planned time, or resumes a stopped start. Changes nothing if the
    /// start already runs. Followers are counted first, before the event is locked.
    ///
    /// - Returns: the report that the start has once it is requested.
    /// - Throws: `event-not-found`, `event-ended`; `invalid-request` for an event that declares no start, or whose
    ///   start's time is over; `forbidden` for an event out of `reach`.
    @discardableResult
    func start(
        _ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Contract.StartReport {
        var report = try await report(of: key, within: reach, .requested, now: now)
        if try await change(key, .startRequested, within: reach, by: actor, now: now) { report.by = actor.text }
        return report
    }

    /// Stops the event's start: pushes that were not sent yet are not sent. Does nothing if it is already stopped.
    ///
    /// - Throws: as `start`.
    func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        _ = try await change(key, .startStopped, within: reach, by: actor, now: now)
    }

    /// Locks the event's row first, as `put` does, so the two cannot deadlock.
    ///
    /// - Returns: whether something changed.
    private func change(
        _ key: EventKey, _ action: Contract.AuditAction, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Bool {
        try await database.transaction { connection in
            guard try await !EventChange.lock(key, within: reach, on: connection).isOver else {
                throw Problem(.eventEnded, "The event \(key) is over, so it cannot be started.")
            }
            let starts = try await connection.query(
                """
                select s.stopped_at is not null as is_stopped, \(EventStore.startWindowColumns),
                    array(select distinct bundle_id from audiences where event_key = s.event_key) as apps
                from event_starts s join events e on e.key = s.event_key
                where s.event_key = \(key.rawValue) for no key update of s
                """)
            guard let start = starts.first else { throw Self.undeclared(key) }
            let isStopped = try start.decode(Bool.self, "is_stopped")
            var change: PostgresQuery = "stopped_at = \(now), opens_at = null"
            if action == .startStopped {
                if isStopped { return false }
            } else {
                let until = try start.startWindow(askedAt: now)?.until ?? now
                guard until > now else {
                    throw Problem(
                        .invalidRequest,
                        "The start of \(key) could be sent until \(RFC3339.text(until)). Declare the event with a later "
                            + "until, or a later endsAt.")
                }
                guard try isStopped || start.decode(Date?.self, "asked_at") == nil else { return false }
                change = """
                    asked_at = coalesce(asked_at, \(now)), asked_by = \(actor.text), stopped_at = null, opens_at = \(now)
                    """
            }
            let apps = Set(try start.decode([String].self, "apps").compactMap(BundleID.init))
            try await connection.pipeline([
                "update event_starts set \(change) where event_key = \(key.rawValue)",
                AuditRows(by: actor, at: now).insert(action, .init(eventKey: key), of: apps),
                Self.makeDue(key, now: now), WakeUps.notify([.starts]),
            ])
            return true
        }
    }

    /// The error for an event that declares no start.
    static func undeclared(_ key: EventKey) -> Problem {
        Problem(.invalidRequest, "The event \(key) declares no start. Declare it with PUT /v1/events/\(key).")
    }

    /// Makes the open runs of an event due now.
    static func makeDue(_ key: EventKey, now: Date) -> PostgresQuery {
        """
        update start_runs set due_at = \(now) where event_key = \(key.rawValue) and closed_at is null
        """
    }
}
