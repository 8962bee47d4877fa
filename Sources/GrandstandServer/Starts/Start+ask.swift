internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// Starts that a person requests or stops.
extension StartStore {
    /// Starts the activities now. Followers are counted first, before the event is locked.
    ///
    /// - Returns: the report that the start has once it is requested.
    /// - Throws: as `startNow`.
    func start(
        _ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Contract.StartReport {
        var report = try await report(of: key, within: reach, .asked, now: now)
        report.by = try await startNow(key, within: reach, by: actor, now: now) ?? report.by
        return report
    }

    /// Sends the event's start now instead of at its planned time, or resumes a stopped start.
    ///
    /// - Returns: who requested the start. If the start already ran, this is the earlier caller, and nothing changed.
    /// - Throws: `event-not-found`, `event-ended`; `invalid-request` for an event that declares no start, or whose
    ///   start's time is over; `forbidden` for an event out of `reach`.
    @discardableResult
    func startNow(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> String? {
        try await database.transaction { connection in
            let start = try await Self.lock(key, within: reach, on: connection)
            let until = try start.startWindow(askedAt: now)?.until ?? now
            guard until > now else {
                throw Problem(
                    .invalidRequest,
                    "The start of \(key) could be sent until \(RFC3339.text(until)). Declare the event with a later until, "
                        + "or a later endsAt.")
            }
            // The start was already requested and is not stopped, so nothing changes.
            guard try start.decode(Bool.self, "is_stopped") || start.decode(Date?.self, "asked_at") == nil else {
                return try start.decode("asked_by")
            }
            let update: PostgresQuery = """
                update event_starts set asked_at = coalesce(asked_at, \(now)), asked_by = \(actor.text),
                    stopped_at = null, opens_at = \(now)
                where event_key = \(key.rawValue)
                """
            try await Self.change(update, .startRequested, of: key, start, by: actor, now: now, on: connection)
            return actor.text
        }
    }

    /// Stops the event's start: pushes that were not sent yet are not sent. Does nothing if it is already stopped.
    ///
    /// - Throws: as `startNow`.
    func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws {
        try await database.transaction { connection in
            let start = try await Self.lock(key, within: reach, on: connection)
            guard try !start.decode(Bool.self, "is_stopped") else { return }
            let update: PostgresQuery =
                "update event_starts set stopped_at = \(now), opens_at = null where event_key = \(key.rawValue)"
            try await Self.change(update, .startStopped, of: key, start, by: actor, now: now, on: connection)
        }
    }

    /// - Parameter start: the row that `lock` returned.
    private static func change(
        _ update: PostgresQuery, _ action: Contract.AuditAction, of key: EventKey, _ start: PostgresRow,
        by actor: AuditActor, now: Date, on connection: PostgresConnection
    ) async throws {
        let apps = Set(try start.decode([String].self, "apps").compactMap(BundleID.init))
        try await connection.pipeline([
            update, AuditRows(by: actor, at: now).insert(action, .init(eventKey: key), of: apps),
            makeDue(key, now: now), "select pg_notify(\(WakeTopic.starts.rawValue), '')",
        ])
    }

    /// Locks the event's row, then the row of its start. `put` locks in the same order, so the two cannot deadlock.
    ///
    /// - Throws: if the event does not exist or is over, or has no start.
    private static func lock(
        _ key: EventKey, within reach: AppReach, on connection: PostgresConnection
    ) async throws -> PostgresRow {
        let events = try await connection.query(
            """
            select ended_at is not null or cancelled_at is not null as is_over
            from events where key = \(key.rawValue) for no key update
            """)
        guard let event = events.first else { throw Problem.noEvent(key) }
        try await EventReach.require(reach, event: key, on: connection)
        guard try !event.decode(Bool.self, "is_over") else {
            throw Problem(.eventEnded, "The event \(key) is over, so it cannot be started.")
        }
        let rows = try await connection.query(
            """
            select s.asked_by, s.stopped_at is not null as is_stopped, \(EventStore.windowColumns),
                array(select distinct bundle_id from audiences where event_key = s.event_key) as apps
            from event_starts s join events e on e.key = s.event_key
            where s.event_key = \(key.rawValue) for no key update of s
            """)
        guard let row = rows.first else { throw undeclared(key) }
        return row
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
