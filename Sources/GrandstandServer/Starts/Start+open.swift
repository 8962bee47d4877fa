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
            try await connection.query(StartOpening.exclusive)
            // An event that is being declared is skipped. Otherwise this transaction would have to wait for the
            // declaration, and registrations would have to wait for this transaction. The declaration makes the event
            // due again.
            let rows = try await connection.query(
                """
                select s.event_key, \(EventStore.windowColumns)
                from event_starts s join events e on e.key = s.event_key
                where s.opens_at <= \(now) order by s.opens_at limit \(Self.openings) for no key update of s skip locked
                """)
            var statements: [PostgresQuery] = []
            for row in rows {
                let mayBeginAnew = try row.startWindow().map { $0.until > now } ?? false
                statements.append(
                    Self.openRuns(
                        of: try row.decode("event_key"), try row.startDeclaration(), mayBeginAnew: mayBeginAnew,
                        now: now))
            }
            try await connection.pipeline(statements)
        }
    }

    /// The maximum number of events that one transaction opens. It is limited, because registrations wait for the
    /// transaction.
    private static let openings = 100

    /// Opens a run for each app and environment with a chosen audience. As long as the start's window is not over, an
    /// existing run begins again if it was closed, or if its topics or its attributes type changed. An installation
    /// whose start is settled gets no other start.
    private static func openRuns(
        of key: String, _ start: Contract.Start, mayBeginAnew: Bool, now: Date
    ) -> PostgresQuery {
        let chosen = start.audiences
        return """
            with opened as (
                insert into start_runs as r (event_key, app, topics, attributes_type, due_at)
                select e.key, ae.id, e.topics, \(start.attributesType), \(now)
                from events e cross join lateral (select * from audiences where event_key = e.key offset 0) u
                join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "u"))
                where e.key = \(key) and e.ended_at is null and e.cancelled_at is null
                    and (\(chosen == nil) or exists (
                        select from unnest(\(chosen?.map(\.bundleId) ?? []),
                                \(chosen?.map(\.environment.rawValue) ?? []),
                                \(chosen?.map(\.variant) ?? [])) as c(bundle_id, environment, variant)
                        where c.bundle_id = u.bundle_id and c.environment = u.environment::text
                            and coalesce(c.variant, u.variant) = u.variant))
                group by e.key, ae.id
                on conflict (event_key, app) do update set topics = excluded.topics,
                    attributes_type = excluded.attributes_type, due_at = excluded.due_at, cursor = 0,
                    restart_after = null, closed_at = null, too_old = null, disabled = null, without_token = null,
                    too_late = null, rate_from = null, rate_until = null, rate_answered = 0
                where \(mayBeginAnew) and (r.closed_at is not null
                    or (r.topics, r.attributes_type) is distinct from (excluded.topics, excluded.attributes_type))
            )
            update event_starts set opens_at = null where event_key = \(key)
            """
    }
}
