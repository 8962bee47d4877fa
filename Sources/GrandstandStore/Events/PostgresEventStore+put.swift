internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresEventStore {
    package func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, if condition: WriteCondition,
        now: Date
    ) async throws -> (event: Event, created: Bool) {
        let (created, warnings) = try await database.transaction { connection -> (Bool, [String]) in
            if condition != .none { try await Self.check(condition, specification.key, within: reach, on: connection) }
            let written = try await Self.write(specification, now: now, on: connection)
            // Its row is locked now, or was made here: an event that another writer made a moment ago is seen, too.
            if written != .created {
                try await EventReach.require(reach, event: specification.key, on: connection)
                // Made by another writer since it was looked for.
                if condition == .absent { try condition.check(0) }
            }
            if written == .over {
                try await Self.reopen(specification, by: actor, now: now, on: connection)
            }
            let created = written == .created
            try await Self.refuseUnknownApps(specification, on: connection)
            let (apps, moved, warnings) = try await Self.writeAudiences(
                specification, isNew: created, now: now, on: connection)
            try await Self.writeStart(specification, by: actor, now: now, on: connection)
            try await connection.pipeline([
                AuditRows(by: actor, at: now).insert(
                    created ? .eventCreated : .eventChanged, .init(eventKey: specification.key), of: apps,
                    reasons: Self.reasons(moved)),
                "select pg_notify(\(WakeTopic.channels.rawValue), '')",
            ])
            return (created, warnings)
        }
        guard var event = try await event(specification.key, now: now) else {
            throw Problem(.eventNotFound, "The event was removed while it was being written.")
        }
        event.warnings = warnings
        return (event, created)
    }

    private enum Written {
        case created
        case changed
        /// Nothing was written.
        case over
    }

    /// Locks the event, and refuses another version of it than the writer knows; a version says nothing to strangers.
    private static func check(
        _ condition: WriteCondition, _ key: EventKey, within reach: AppReach, on connection: PostgresConnection
    ) async throws {
        let rows = try await connection.query(
            "select version from events where key = \(key.rawValue) for no key update")
        try await EventReach.require(reach, event: key, on: connection)
        try condition.check(try rows.first?.decode("version"))
    }

    /// Writes the event's own row, and holds its lock until the commit.
    private static func write(
        _ specification: EventSpecification, now: Date, on connection: PostgresConnection
    ) async throws -> Written {
        let rows = try await connection.query(
            """
            insert into events as e (key, \(EventColumns.declared), created_at, updated_at)
            values (\(specification.key.rawValue), \(EventColumns.values(specification)), \(now), \(now))
            on conflict (key) do update set (\(EventColumns.declared)) = (\(EventColumns.proposed)),
                updated_at = excluded.updated_at
            where e.ended_at is null and e.cancelled_at is null
            returning xmax = 0 as created
            """)
        guard let row = rows.first else { return .over }
        return try row.decode(Bool.self, "created") ? .created : .changed
    }

    /// Declares an event whose row is locked.
    static func declare(_ specification: EventSpecification, now: Date) -> PostgresQuery {
        """
        update events set (\(EventColumns.declared)) = (\(EventColumns.values(specification))), updated_at = \(now),
            ended_at = null, expired_at = null
        where key = \(specification.key.rawValue)
        """
    }

    private static func refuseUnknownApps(
        _ specification: EventSpecification, on connection: PostgresConnection
    ) async throws {
        let named = Array(Set(specification.audiences.map(\.bundleID.rawValue)))
        let rows = try await connection.query("select bundle_id from apps where bundle_id = any(\(named))")
        let known = Set(try rows.map { try $0.decode(String.self, "bundle_id") })
        let errors = specification.audiences.enumerated().compactMap { index, audience -> FieldError? in
            guard !known.contains(audience.bundleID.rawValue) else { return nil }
            return FieldError(
                pointer: "/audiences/\(index)/bundleId",
                detail: "There is no app \(audience.bundleID). Register it with PUT /v1/apps first.")
        }
        guard errors.isEmpty else {
            throw Problem(.invalidRequest, "Some audiences name an app that is not registered.", errors: errors)
        }
    }

    /// Closes lanes and cancels what waits on them.
    static func close(_ lanes: [Int], now: Date, on connection: PostgresConnection) async throws {
        try await LaneRows.change("\(lanes)", at: now, on: connection) { $0.close(at: now) }
    }
}
