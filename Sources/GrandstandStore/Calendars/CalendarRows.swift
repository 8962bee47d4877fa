internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The rows of `calendars` and `calendar_entries`, read and written.
enum CalendarRows {
    static let columns: PostgresQuery = """
        k.name, k.declaration, k.refresh_every, k.reach, k.last_sync, k.shrunk_since, k.shrunk_vanished, k.shrunk_future,
        \(apps) as shrunk_apps,
        k.next_refresh_at, k.failure, k.version, k.created_at, k.updated_at
        """

    static func calendar(_ row: PostgresRow, _ documents: EventDocuments) throws -> FixtureCalendar {
        let source = try JSONValue(parsing: row.decode(PostgresJSON.self, "declaration").bytes)
        let topics: [String]? = try row.decode([String]?.self, "reach")
        return FixtureCalendar(
            name: try row.word("name"), declaration: try CalendarDeclaration(stored: source, documents: documents),
            reach: topics.map { AppReach.only(Set($0.compactMap(BundleID.init(rawValue:)))) } ?? .all,
            lastSync: try row.decode(PostgresJSON?.self, "last_sync").flatMap { try lastSync($0.bytes) },
            nextRefreshAt: try row.decode("next_refresh_at"), failure: try row.decode("failure"),
            shrunk: try row.decode(Date?.self, "shrunk_since") == nil ? nil : shrunk(row),
            createdAt: try row.decode("created_at"), updatedAt: try row.decode("updated_at"),
            version: try row.decode("version"))
    }

    /// The condition that a calendar `k` is within a caller's reach: all its apps are, and there is one.
    static func covers(_ reach: AppReach) -> PostgresQuery {
        guard let topics = reach.topics else { return "true" }
        return """
            coalesce((select bool_and(lower(a.bundle_id) = any(\(topics))) from calendar_apps a
                where a.calendar = k.name), false)
            """
    }

    // MARK: The alarm

    /// Alarms that stand, one row for each app and environment of a calendar.
    static let standing: PostgresQuery = """
        select a.bundle_id, a.environment, k.name, k.shrunk_since, k.shrunk_vanished, k.shrunk_future,
            \(apps) as shrunk_apps
        from calendars k join calendar_apps a on a.calendar = k.name
        where k.shrunk_since is not null order by k.shrunk_since, k.name
        """

    /// The apps of a calendar's events.
    private static let apps: PostgresQuery =
        "array(select distinct bundle_id from calendar_apps where calendar = k.name order by 1)"

    static func shrunk(_ row: PostgresRow) throws -> CalendarShrunk {
        let apps: [String] = try row.decode("shrunk_apps")
        return CalendarShrunk(
            calendar: try row.decode("name"), apps: apps.compactMap(BundleID.init),
            vanished: try row.decode("shrunk_vanished"),
            future: try row.decode("shrunk_future"), since: try row.decode("shrunk_since"))
    }

    /// Lets the alarm stand or end, and tells webhooks when it is raised: those that are bound to all its apps, or to none.
    static func judge(
        _ shrinkage: CalendarPlan.Shrinkage?, _ name: CalendarName, now: Date
    ) -> [PostgresQuery] {
        guard let shrinkage else {
            return [
                """
                update calendars set shrunk_since = null, shrunk_vanished = null, shrunk_future = null
                where name = \(name.rawValue) and shrunk_since is not null
                """
            ]
        }
        return [
            """
            select note_for_webhooks(\(WebhookTopic.calendarShrunk.rawValue)::text::webhook_topic, \(now),
                \(apps),
                detail => json_build_object('calendar', k.name, 'vanished', \(shrinkage.vanished)::bigint,
                    'future', \(shrinkage.future)::bigint, 'since', \(RFC3339.text(now))::text))
            from calendars k where k.name = \(name.rawValue) and k.shrunk_since is null
            """,
            """
            update calendars set shrunk_since = coalesce(shrunk_since, \(now)),
                shrunk_vanished = \(shrinkage.vanished), shrunk_future = \(shrinkage.future)
            where name = \(name.rawValue)
            """,
        ]
    }

    // MARK: Entries

    static func synced(_ name: CalendarName) -> PostgresQuery {
        """
        select uid, event_key, document, is_missing, is_cancelled from calendar_entries
        where calendar = \(name.rawValue)
        """
    }

    static func synced(_ rows: PostgresRows) throws -> [String: CalendarPlan.Synced] {
        var synced: [String: CalendarPlan.Synced] = [:]
        for row in rows {
            let document = try JSONValue(parsing: row.decode(PostgresJSON.self, "document").bytes)
            synced[try row.decode("uid")] = CalendarPlan.Synced(
                key: try row.word("event_key"), document: EventDocument(document),
                isMissing: try row.decode("is_missing"), isCancelled: try row.decode("is_cancelled"))
        }
        return synced
    }

    static func write(
        _ memory: [String: CalendarPlan.Synced], forgetting forgotten: [String], of name: CalendarName
    ) -> [PostgresQuery] {
        let entries = memory.sorted { $0.key < $1.key }
        var queries: [PostgresQuery] = []
        if !forgotten.isEmpty {
            queries.append(
                "delete from calendar_entries where calendar = \(name.rawValue) and uid = any(\(forgotten))")
        }
        guard !entries.isEmpty else { return queries }
        queries.append(
            """
            insert into calendar_entries as e (calendar, uid, event_key, document, is_missing, is_cancelled)
            select \(name.rawValue), * from unnest(\(entries.map(\.key)), \(entries.map(\.value.key.rawValue)),
                \(entries.map { PostgresJSON(bytes: $0.value.document.text) }), \(entries.map(\.value.isMissing)),
                \(entries.map(\.value.isCancelled)))
            on conflict (calendar, uid) do update set document = excluded.document, is_missing = excluded.is_missing,
                is_cancelled = excluded.is_cancelled
            """)
        return queries
    }

    // MARK: The last sync

    static func text(_ sync: FixtureCalendar.LastSync) -> [UInt8] {
        JSONWriter.text { object in
            object.member("at", sync.at)
            object.member("by", sync.by)
            for (name, count) in [
                ("create", sync.create), ("change", sync.change), ("cancel", sync.cancel),
                ("unchanged", sync.unchanged), ("problems", sync.problems),
            ] {
                object.name(dynamic: name)
                object.integer(count)
            }
        }
    }

    private static func lastSync(_ bytes: [UInt8]) throws -> FixtureCalendar.LastSync? {
        let json = try JSONValue(parsing: bytes)
        func count(_ name: String) -> Int {
            if case .number(let text)? = json[name]?.kind { Int(text) ?? 0 } else { 0 }
        }
        guard let at = json["at"]?.string.flatMap(RFC3339.date), let by = json["by"]?.string else { return nil }
        return FixtureCalendar.LastSync(
            at: at, by: by, create: count("create"), change: count("change"), cancel: count("cancel"),
            unchanged: count("unchanged"), problems: count("problems"))
    }
}
