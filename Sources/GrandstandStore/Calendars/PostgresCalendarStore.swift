internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Calendars in the tables `calendars`, `calendar_apps` and `calendar_entries`.
package struct PostgresCalendarStore: CalendarStore {
    let database: Database
    let documents: EventDocuments

    /// - Parameter documents: the way of events to their declarations and back.
    package init(_ database: Database, documents: EventDocuments) {
        self.database = database
        self.documents = documents
    }

    package func put(
        _ name: CalendarName, _ declaration: CalendarDeclaration, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> (calendar: FixtureCalendar, created: Bool) {
        try await database.transaction { connection in
            let present = try await connection.query(
                """
                select k.version, \(CalendarRows.covers(reach)) as is_covered from calendars k
                where k.name = \(name.rawValue) for no key update
                """
            ).first
            if let present, try !present.decode(Bool.self, "is_covered") { throw reach.refusal }
            try condition.check(try present?.decode("version"))
            let nextRefreshAt = declaration.refreshEvery.map { now.addingTimeInterval(Double($0)) }
            let document = PostgresJSON(bytes: declaration.source.text)
            let row = try await connection.query(
                """
                insert into calendars as k (name, declaration, refresh_every, reach, next_refresh_at, created_at,
                    updated_at)
                values (\(name.rawValue), \(document), \(declaration.refreshEvery)::integer, \(reach.topics)::text[],
                    \(nextRefreshAt)::timestamptz, \(now), \(now))
                on conflict (name) do update set declaration = excluded.declaration,
                    refresh_every = excluded.refresh_every, reach = excluded.reach,
                    next_refresh_at = excluded.next_refresh_at, failure = null, updated_at = excluded.updated_at
                where \(present != nil)
                returning \(CalendarRows.columns)
                """
            ).first
            // Made by another writer since it was looked for.
            guard let row else { throw Problem.contention }
            let apps = declaration.apps
            try await connection.pipeline([
                "delete from calendar_apps where calendar = \(name.rawValue)",
                """
                insert into calendar_apps (calendar, bundle_id, environment)
                select \(name.rawValue), bundle_id, environment::environment
                from unnest(\(apps.map(\.bundleID.rawValue)), \(apps.map(\.environment.rawValue)))
                    as a(bundle_id, environment)
                """,
                AuditRows(by: actor, at: now).insert(
                    present == nil ? .calendarCreated : .calendarChanged, name, of: apps),
            ])
            return (try CalendarRows.calendar(row, documents), present == nil)
        }
    }

    package func calendar(_ name: CalendarName) async throws -> FixtureCalendar? {
        try await database.query(
            "select \(CalendarRows.columns) from calendars k where k.name = \(name.rawValue)"
        ).first.map { try CalendarRows.calendar($0, documents) }
    }

    package func calendars(_ page: PageRequest, within reach: AppReach) async throws -> Page<FixtureCalendar> {
        let rows = try await database.query(
            """
            select \(CalendarRows.columns) from calendars k
            where (\(page.cursor)::text is null or k.name > \(page.cursor)) and \(CalendarRows.covers(reach))
            order by k.name limit \(page.limit + 1)
            """)
        return Page(rows: try rows.map { try CalendarRows.calendar($0, documents) }, limit: page.limit) {
            $0.name.rawValue
        }
    }

    package func delete(
        _ name: CalendarName, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws {
        try await database.transaction { connection in
            let row = try await connection.query(
                """
                select \(CalendarRows.covers(reach)) as is_covered, \(CalendarRows.columns) from calendars k
                where k.name = \(name.rawValue) for update
                """
            ).first
            guard let row else { throw Problem.calendarNotFound(name) }
            guard try row.decode(Bool.self, "is_covered") else { throw reach.refusal }
            let apps = try await connection.query(
                "select distinct bundle_id, environment from calendar_apps where calendar = \(name.rawValue)")
            try await connection.pipeline([
                "delete from calendars where name = \(name.rawValue)",
                AuditRows(by: actor, at: now).insert(
                    .calendarDeleted, name,
                    of: try apps.map {
                        AppEnvironment(bundleID: try $0.word("bundle_id"), environment: try $0.word("environment"))
                    }),
            ])
        }
    }

    // MARK: By itself

    package func claimRefresh(now: Date, leasedUntil: Date) async throws -> FixtureCalendar? {
        try await database.query(
            """
            update calendars k set next_refresh_at = \(leasedUntil)
            where k.name = (
                select name from calendars where next_refresh_at <= \(now) order by next_refresh_at limit 1
                for no key update skip locked)
            returning \(CalendarRows.columns)
            """
        ).first.map { try CalendarRows.calendar($0, documents) }
    }

    package func concludeRefresh(of name: CalendarName, failure: String?, now: Date) async throws {
        try await database.query(
            """
            update calendars set failure = \(failure),
                next_refresh_at = \(now) + make_interval(secs =>
                    case when \(failure)::text is null then refresh_every else least(refresh_every, 300) end)
            where name = \(name.rawValue) and refresh_every is not null
            """)
    }

    package func nextRefresh() async throws -> Date? {
        try await database.query("select min(next_refresh_at) as due from calendars where next_refresh_at is not null")
            .first?.decode(Date?.self, "due")
    }
}

extension AuditRows {
    /// One entry for each app that a calendar is of; its name is the reason's first word.
    func insert(
        _ action: AuditAction, _ name: CalendarName, of apps: [AppEnvironment], note: String = ""
    ) -> PostgresQuery {
        let reason = note.isEmpty ? name.rawValue : "\(name): \(note)"
        let bundleIDs = Set(apps.map(\.bundleID))
        return insert(
            action, .init(), of: bundleIDs,
            reasons: Dictionary(uniqueKeysWithValues: bundleIDs.map { ($0, reason) }))
    }
}
