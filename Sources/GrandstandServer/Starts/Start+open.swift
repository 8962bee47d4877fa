internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension StartStore {
    /// Opens the runs of events whose starts are due now. Compares runs that are already open with the starts that
    /// their events declare now.
    func open(now: Date) async throws {
        let due = try await dispatch.query(
            "select event_key from event_starts where opens_at <= \(now) order by opens_at limit 1")
        guard !due.isEmpty else { return }
        try await dispatch.transaction { connection in
            try await connection.query(Self.openingLock)
            // An event that is being declared is skipped. Otherwise this transaction would have to wait for the
            // declaration, and registrations would have to wait for this transaction. The declaration makes the event
            // due again.
            let rows = try await connection.query(
                """
                select s.event_key, \(EventStore.windowColumns)
                from event_starts s join events e on e.key = s.event_key
                where s.opens_at <= \(now) order by s.opens_at limit \(Self.openings) for no key update of s skip locked
                """)
            let renewed = try rows.filter { try $0.startWindow().map { $0.until > now } ?? false }
            try await connection.query(
                Self.openRuns(
                    of: try rows.map { try $0.decode("event_key") },
                    renewing: try renewed.map { try $0.decode("event_key") }, now: now))
        }
    }

    /// The maximum number of events that one transaction opens. It is limited, because registrations wait for the
    /// transaction.
    private static let openings = 100

    /// Opens a run for each app and environment with a chosen audience.
    ///
    /// - Parameter renewed: events whose start's window is not over. Their existing runs begin again if they were closed,
    ///   or if their topics or attributes type changed. An installation whose start is settled gets no other start.
    private static func openRuns(of keys: [String], renewing renewed: [String], now: Date) -> PostgresQuery {
        """
        with opened as (
            insert into start_runs as r (event_key, app, topics, attributes_type, due_at)
            select e.key, ae.id, e.topics, s.attributes_type, \(now)
            from events e join event_starts s on s.event_key = e.key
            cross join lateral (select * from audiences where event_key = e.key offset 0) u
            join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "u"))
            where e.key = any(\(keys)) and e.ended_at is null and e.cancelled_at is null
                and \(AudienceColumns.isSelected("u", by: "s.audiences"))
            group by e.key, ae.id, s.attributes_type
            on conflict (event_key, app) do update set topics = excluded.topics,
                attributes_type = excluded.attributes_type, due_at = excluded.due_at, cursor = 0,
                restart_after = null, closed_at = null, too_old = null, disabled = null, without_token = null,
                too_late = null, rate_from = null, rate_until = null, rate_answered = 0
            where r.event_key = any(\(renewed)) and (r.closed_at is not null
                or (r.topics, r.attributes_type) is distinct from (excluded.topics, excluded.attributes_type))
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
