internal import APNsWire
package import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import JSON
internal import Postgres

extension EventStore {
    /// Creates the event or replaces its specification. `ChannelStore.align` then creates or retires channels. If the
    /// server had closed the event on its own and the new declaration reaches into the future, the event is live again,
    /// with the channels that still exist.
    ///
    /// - Parameter reach: the caller's reach. It is checked while the event's audiences are locked.
    /// - Throws: `invalid-request` for an unknown app; `event-ended` for an event that is over; `forbidden`;
    ///   `version-mismatch`.
    package func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, if condition: WriteCondition,
        now: Date
    ) async throws -> (event: Versioned<Contract.Event>, created: Bool) {
        let (created, isMoved, warnings) = try await database.transaction { connection -> (Bool, Bool, [String]) in
            let before = try await Self.check(condition, specification.key, within: reach, now: now, on: connection)
            let created = try await Self.write(specification, now: now, on: connection)
            // The row is locked now. Check access again, because another writer may have created the event after
            // `check`.
            if created != true {
                try await EventReach.require(reach, event: specification.key, declaring: true, on: connection)
                // Another writer created the event after `check`.
                if condition == .absent { try condition.check(0) }
            }
            if created == nil { try await Self.reopen(specification, by: actor, now: now, on: connection) }
            let isNew = created == true
            try await Self.refuseUnknownApps(specification, on: connection)
            let contents = try await Self.checkContents(specification, on: connection)
            let (apps, moved, warnings) = try await Self.writeAudiences(
                specification, isNew: isNew, now: now, on: connection)
            try await Self.writeStart(specification, by: actor, now: now, on: connection)
            let declarationWarnings = DeclarationWarnings(
                EventTimes(
                    startsAt: specification.startsAt?.inMicroseconds, endsAt: specification.endsAt?.inMicroseconds),
                start: specification.start, now: now)
            let moving =
                if let (before, startAt) = before {
                    try await Self.move(declarationWarnings, from: before, specification.key, on: connection)
                        + declarationWarnings.keeping(startAt: startAt, from: before)
                } else { [String]() }
            try await connection.pipeline([
                AuditRows(by: actor, at: now).insert(
                    isNew ? .eventCreated : .eventChanged, .init(eventKey: specification.key), of: apps,
                    reasons: Self.reasons(moved)),
                "select pg_notify(\(WakeTopic.channels.rawValue), '')",
            ])
            let isMoved = before.map { $0.times != declarationWarnings.after } ?? false
            return (isNew, isMoved, warnings + moving + declarationWarnings.start + contents)
        }
        let outlook = try await isMoved ? self.outlook(of: specification.key, now: now) : []
        guard var event = try await event(specification.key, now: now) else {
            throw Problem(.eventNotFound, "The event was removed while it was being written.")
        }
        event.value.warnings = warnings + outlook
        return (event, created)
    }

    /// Locks the event. Refuses an event key whose prefix is reserved for other API keys, and an outdated version. With
    /// `If-Match`, an event out of the caller's reach is refused in the same words as an event that does not exist.
    ///
    /// - Returns: the event's times, and the time that its start has itself; `nil`: the event does not exist yet.
    private static func check(
        _ condition: WriteCondition, _ key: EventKey, within reach: AppReach, now: Date,
        on connection: PostgresConnection
    ) async throws -> (times: EventTimes, startAt: Date?)? {
        let row = try await connection.query(
            """
            select version, starts_at, ends_at, (select at from event_starts where event_key = key) as start_at
            from events where key = \(key.rawValue) for no key update
            """
        ).first
        let isReached = try await EventReach.reaches(reach, event: key, on: connection)
        if row == nil || !isReached {
            try await EventReach.requireFree(key, for: reach, now: now, on: connection)
        }
        guard isReached else {
            if condition != .absent { try condition.check(nil) }
            throw Problem.takenEvent(key)
        }
        try condition.check(try row?.decode("version"))
        return try row.map { row in
            let times = EventTimes(startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"))
            return (times, try row.decode("start_at"))
        }
    }

    /// Moves broadcasts that are scheduled relative to the event's start; without a start they wait for one. If the
    /// event is postponed, clears `first_update_at`, so that the event's state is `scheduled` again. The caller holds
    /// the lock on the event's row.
    ///
    /// - Returns: warnings about scheduled broadcasts.
    private static func move(
        _ declarationWarnings: DeclarationWarnings, from before: EventTimes, _ key: EventKey,
        on connection: PostgresConnection
    ) async throws -> [String] {
        guard before != declarationWarnings.after else { return [] }
        let key = key.rawValue
        let scheduled = try await connection.query(
            """
            select send_at as "sendAt", send_after_start as "afterStart" from broadcasts
            where event_key = \(key) and scheduled order by send_at, accepted_at, id
            """
        ).read(DeclarationWarnings.Scheduled.self)
        var statements: [PostgresQuery] = []
        if declarationWarnings.isPostponed(from: before) {
            statements.append(
                "update events set first_update_at = null where key = \(key) and first_update_at is not null")
        }
        if scheduled.contains(where: { $0.afterStart != nil }) {
            let startsAt = declarationWarnings.after.startsAt ?? EventSpecification.undated
            statements += [
                """
                update broadcasts set send_at = \(startsAt) + make_interval(secs => send_after_start)
                where event_key = \(key) and scheduled and send_after_start is not null
                """, WakeUps.wake([.schedule]),
            ]
        }
        if !statements.isEmpty { try await connection.pipeline(statements) }
        return declarationWarnings.moving(scheduled, from: before)
    }

    /// Writes the event's own row, and holds its lock until the commit.
    ///
    /// - Returns: whether the event is new; `nil`: it is over, so nothing was written.
    private static func write(
        _ specification: EventSpecification, now: Date, on connection: PostgresConnection
    ) async throws -> Bool? {
        let rows = try await connection.query(
            """
            insert into events as e (key, \(columns()), created_at, updated_at)
            values (\(specification.key.rawValue), \(values(specification)), \(now), \(now))
            on conflict (key) do update set (\(columns())) = (\(columns(of: "excluded"))),
                updated_at = excluded.updated_at, version = excluded.version
            where e.ended_at is null and e.cancelled_at is null
            returning xmax = 0 as created
            """)
        return try rows.first?.decode(Bool.self, "created")
    }

    /// Writes the declaration of an event whose row is locked, and opens it again.
    static func declare(_ specification: EventSpecification, now: Date) -> PostgresQuery {
        """
        update events set (\(columns())) = (\(values(specification))), updated_at = \(now),
            ended_at = null, expired_at = null, version = nextval('resource_versions')
        where key = \(specification.key.rawValue)
        """
    }

    /// The columns of an event's own row that its organiser declares. Other statements write topics, start and
    /// audiences.
    private static func columns(of row: String? = nil) -> PostgresQuery {
        .list(
            [
                "name", "kind", "starts_at", "ends_at", "channels_open_at", "channels_open_before", "metadata",
                "season",
                "content", "defaults",
            ], of: row)
    }

    /// The values of a declaration, in the order of `columns`.
    private static func values(_ specification: EventSpecification) -> PostgresQuery {
        let defaults = specification.defaults.isEmpty ? nil : JSONWriter.text(specification.defaults)
        return """
            \(specification.name)::text, \(specification.kind)::text, \(specification.startsAt)::timestamptz,
                \(specification.endsAt)::timestamptz, \(specification.opensAt)::timestamptz,
                \(specification.channelsOpenBefore)::integer,
                \(specification.metadata.map(PostgresJSON.init(bytes:)))::json,
                \(SeasonName.named(in: specification.metadata)?.rawValue)::text, \(specification.content)::text,
                \(defaults.map(PostgresJSON.init(bytes:)))::json
            """
    }

    private static func refuseUnknownApps(
        _ specification: EventSpecification, on connection: PostgresConnection
    ) async throws {
        let topics = Array(Set(specification.audiences.map(\.bundleID.topic)))
        let rows = try await connection.query(
            """
            select topic, bundle_id from apps a where topic = any(\(topics)) and not exists (
                select from app_environments where bundle_id = a.bundle_id and deleting_since is not null)
            """)
        let registered = Dictionary(
            uniqueKeysWithValues: try rows.map { row -> (String, String) in
                (try row.decode("topic"), try row.decode("bundle_id"))
            })
        let errors = specification.audiences.enumerated().compactMap { index, audience -> FieldError? in
            let bundleID = audience.bundleID
            let spelling = registered[bundleID.topic]
            guard spelling != bundleID.rawValue else { return nil }
            return FieldError(
                pointer: "/audiences/\(index)/bundleId",
                detail: spelling.map { "The app is registered as \($0). Use this spelling." }
                    ?? "There is no app \(bundleID). Register it with PUT /v1/apps/\(bundleID) first.")
        }
        guard errors.isEmpty else {
            throw Problem(.invalidRequest, "Some audiences name an app that is not registered.", errors: errors)
        }
    }

    /// Checks the content of the event's start by the content type of the start's attributes.
    ///
    /// - Returns: warnings about this content, about content types that the declaration names but an app does not
    ///   have, and about audiences that name none of several.
    /// - Throws: `content-mismatch`, `payload-too-large`.
    private static func checkContents(
        _ specification: EventSpecification, on connection: PostgresConnection
    ) async throws -> [String] {
        let apps = Set(specification.audiences.map(\.bundleID))
        let start = specification.start
        let rows = try await connection.query(
            """
            select bundle_id, attributes_type, declaration from content_types
            where bundle_id = any(\(apps.map(\.rawValue).sorted())) order by bundle_id, created_at, attributes_type
            """)
        var names: [BundleID: [String]] = [:]
        for row in rows { names[try row.word("bundle_id"), default: []].append(try row.decode("attributes_type")) }
        var warnings: [String] = []
        for audience in specification.audiences {
            let ofApp = names[audience.bundleID] ?? []
            if let name = audience.content ?? specification.content {
                guard !ofApp.contains(name) else { continue }
                warnings.append(
                    "\(audience.id.words) names the content type \(JSONText.quoted(name)), which the app does not have. "
                        + "Declare it with PUT /v1/apps/\(audience.bundleID)/contents/….")
            } else if ofApp.count > 1 {
                warnings.append(
                    "\(audience.id.words) names no content type, and the app has \(ofApp.count). Its content is checked by "
                        + "the oldest, \(JSONText.quoted(ofApp[0])). Name one with content.")
            }
        }
        for row in rows where try row.decode(String.self, "attributes_type") == start?.attributesType {
            let type = try row.contentType()
            try start?.requireFit(with: specification.defaults)
            let faults = start?.contentState.map { type.faults(of: $0.array, at: "/start/contentState") } ?? []
            if type.refuses, !faults.isEmpty { throw Problem.contentMismatch(faults) }
            warnings += faults.prefix(5).map { "\($0.pointer): \($0.detail)" }
        }
        return warnings
    }

    /// Closes lanes and cancels the messages that wait on them.
    static func close(_ lanes: [Int], now: Date, on connection: PostgresConnection) async throws {
        try await LaneRows.change("\(lanes)", at: now, on: connection) { $0.close(at: now) }
    }
}
