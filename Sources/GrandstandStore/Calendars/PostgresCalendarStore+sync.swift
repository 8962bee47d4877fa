package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresCalendarStore {
    /// A rehearsal's end: everything it did is undone.
    private struct Rehearsed: Error {
        let report: CalendarReport
    }

    package func sync(
        _ calendar: FixtureCalendar, _ wish: CalendarPlan.Wish, isRehearsal: Bool, within reach: AppReach,
        by actor: AuditActor, tenure: ChannelTenure, now: Date
    ) async throws -> CalendarReport {
        do {
            return try await database.together { connection in
                let name = calendar.name
                let present = try await connection.query(
                    "select version from calendars where name = \(name.rawValue) for no key update")
                guard let version: Int = try present.first?.decode("version") else {
                    throw Problem.calendarNotFound(name)
                }
                // The wish was read by another declaration.
                guard version == calendar.version else { throw Problem.contention }
                let plan = try await settledPlan(name, wish, within: reach, now: now, on: connection)
                let channels = PostgresChannelStore(database)
                let before = try await channels.quotas(now: now, tenure: tenure)
                try await carryOut(plan, within: reach, by: actor, now: now, on: connection)
                let after = plan.isEmpty ? before : try await channels.quotas(now: now, tenure: tenure)
                let report = CalendarReport(
                    plan: plan,
                    forecasts: CalendarReport.forecasts(calendar.declaration.apps, before: before, after: after))
                guard !isRehearsal else { throw Rehearsed(report: report) }
                try await connection.pipeline(Self.record(plan, of: calendar, by: actor, now: now))
                return report
            }
        } catch let rehearsed as Rehearsed {
            return rehearsed.report
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            // Another calendar took the same event while this one was being planned.
            throw Problem.contention
        }
    }

    /// The plan for events that no other writer can change any more: planned, their rows locked, planned anew until no
    /// more are wanted than are locked. Events that stay as they are are not locked.
    private func settledPlan(
        _ name: CalendarName, _ wish: CalendarPlan.Wish, within reach: AppReach, now: Date,
        on connection: PostgresConnection
    ) async throws -> CalendarPlan {
        let synced = try CalendarRows.synced(try await connection.query(CalendarRows.synced(name)))
        let fresh = (wish.drafts ?? []).filter { synced[$0.uid] == nil }.map(\.key.rawValue)
        let taken = try await connection.query(
            "select event_key from calendar_entries where event_key = any(\(fresh)) and calendar <> \(name.rawValue)")
        let shrunk = try await connection.query(
            "select from calendars where name = \(name.rawValue) and shrunk_since is not null")
        let keys = Set(synced.values.map(\.key.rawValue)).union(fresh).sorted()
        var situation = CalendarPlan.Situation(
            synced: synced, events: [:], taken: Set(try taken.map { try $0.word("event_key") }),
            isShrunk: shrunk.first != nil, reach: reach, now: now)
        var locked: Set<EventKey> = []
        while true {
            situation.events = try await present(keys, now: now)
            let plan = CalendarPlan(wish, situation, documents: documents)
            let wanted = plan.keys.subtracting(locked)
            if wanted.isEmpty { return plan }
            try await connection.query(
                """
                select from events where key = any(\(wanted.map(\.rawValue).sorted())) order by key for no key update
                """)
            locked.formUnion(wanted)
        }
    }

    private func present(_ keys: [String], now: Date) async throws -> [EventKey: CalendarPlan.Present] {
        let rows = try await database.query(
            """
            select \(PostgresEventStore.columns),
                e.expired_at is not null and e.cancelled_at is null as is_expired
            from events e where e.key = any(\(keys))
            """)
        let expired = Set(
            try rows.filter { try $0.decode(Bool.self, "is_expired") }.map { try $0.decode(String.self, "key") })
        var present: [EventKey: CalendarPlan.Present] = [:]
        for event in try await PostgresEventStore(database).complete(Array(rows), now: now) {
            let key = event.specification.key
            present[key] = CalendarPlan.Present(event: event, isExpired: expired.contains(key.rawValue))
        }
        return present
    }

    /// Declares and cancels as anybody would, event by event in order of their keys.
    private func carryOut(
        _ plan: CalendarPlan, within reach: AppReach, by actor: AuditActor, now: Date,
        on connection: PostgresConnection
    ) async throws {
        let events = PostgresEventStore(database)
        let cancelled = plan.cancel.map(\.event.specification.key).sorted { $0.rawValue < $1.rawValue }
        // Settlements lock lanes in this order, over all events.
        let changing =
            cancelled + plan.change.filter { $0.fields.contains { $0.name == "audiences" } }.map(\.specification.key)
        if !changing.isEmpty {
            try await connection.query(
                """
                select from lanes where id = any(array(
                    select lane from audience_lanes where event_key = any(\(changing.map(\.rawValue)))))
                order by id for no key update
                """)
        }
        let created = Set(plan.create.map(\.specification.key))
        let writes = (plan.create + plan.change).map(\.specification).sorted { $0.key.rawValue < $1.key.rawValue }
        for specification in writes {
            do {
                _ = try await events.put(
                    specification, within: reach, by: actor,
                    if: created.contains(specification.key) ? .absent : .present, now: now)
            } catch let problem as Problem where problem.kind == .versionMismatch {
                // Another writer has made it since it was looked for.
                throw Problem.contention
            }
        }
        for key in cancelled { try await events.cancel(key, sendingEnd: false, within: reach, by: actor, now: now) }
    }

    /// What is remembered of a sync.
    private static func record(
        _ plan: CalendarPlan, of calendar: FixtureCalendar, by actor: AuditActor, now: Date
    ) -> [PostgresQuery] {
        let name = calendar.name
        let sync = FixtureCalendar.LastSync(
            at: now, by: actor.text, create: plan.create.count, change: plan.change.count, cancel: plan.cancel.count,
            unchanged: plan.unchanged, problems: plan.problems.count)
        var queries = CalendarRows.write(plan.memory, forgetting: plan.forgotten, of: name)
        queries += CalendarRows.judge(plan.shrinkage, name, now: now)
        queries.append(
            """
            update calendars set last_sync = \(PostgresJSON(bytes: CalendarRows.text(sync))), failure = null,
                next_refresh_at = \(now) + make_interval(secs => refresh_every)
            where name = \(name.rawValue)
            """)
        if !plan.isEmpty {
            queries.append(
                AuditRows(by: actor, at: now).insert(
                    .calendarSynced, name, of: calendar.declaration.apps,
                    note: "\(sync.create) events created, \(sync.change) changed, \(sync.cancel) cancelled"))
        }
        return queries
    }
}
