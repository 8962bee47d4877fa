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
    /// - Parameter reach: the caller's reach. It is checked while the event's row is locked.
    /// - Throws: `invalid-request` for an unknown app; `event-ended` for an event that is over; `forbidden`;
    ///   `version-mismatch`.
    package func put(
        _ specification: EventSpecification, within reach: AppReach, by actor: AuditActor, if condition: WriteCondition,
        now: Date
    ) async throws -> (event: Versioned<Contract.Event>, created: Bool) {
        let key = specification.key
        let (isNew, isMoved, warnings) = try await database.transaction { connection -> (Bool, Bool, [String]) in
            // If another writer creates the event now, this waits for it.
            let isNew = try await !connection.query(Self.insert(specification, now: now)).isEmpty
            let before = try await Self.lock(key, isNew: isNew, within: reach, if: condition, now: now, on: connection)
            if let before {
                if before.isOver { try await Self.reopen(specification, before, by: actor, now: now, on: connection) }
                try await connection.query(Self.declare(specification, now: now))
            }
            try await Self.refuseUnknownApps(specification, on: connection)
            let contents = try await Self.checkContents(specification, on: connection)
            let (apps, moved, warnings) = try await Self.writeAudiences(
                specification, isNew: isNew, now: now, on: connection)
            try await Self.writeStart(specification, by: actor, now: now, on: connection)
            let changes = DeclarationWarnings(
                from: before.map { EventTimes(startsAt: $0.startsAt, endsAt: $0.endsAt) },
                to: EventTimes(
                    startsAt: specification.startsAt?.inMicroseconds, endsAt: specification.endsAt?.inMicroseconds),
                start: specification.start, now: now)
            let moving = try await Self.move(specification, changes, on: connection)
            try await connection.pipeline([
                AuditRows(by: actor, at: now).insert(
                    isNew ? .eventCreated : .eventChanged, .init(eventKey: key), of: apps,
                    reasons: Self.reasons(moved)),
                WakeUps.wake([.channels]),
            ])
            let all = warnings + moving + changes.keeping(startAt: before?.startAt) + changes.start + contents
            return (isNew, changes.isMoved, all)
        }
        let outlook = try await isMoved ? self.outlook(of: key, now: now) : []
        guard var event = try await event(key, now: now) else {
            throw Problem(.eventNotFound, "The event was removed while it was being written.")
        }
        event.value.warnings = warnings + outlook
        return (event, isNew)
    }

    /// An event's row before its new declaration.
    private struct Before: Decodable {
        let version: Int
        let startsAt: Date?
        let endsAt: Date?
        /// The time that its start has itself.
        let startAt: Date?
        let isOver: Bool
        /// Whether the server closed the event on its own.
        let isExpired: Bool
        let endedAt: Date?
    }

    /// Locks the event. Refuses an event key whose prefix is reserved for other API keys, and an outdated version. With
    /// `If-Match`, an event out of the caller's reach is refused in the same words as an event that does not exist.
    ///
    /// - Parameter isNew: whether this transaction inserted the event.
    /// - Returns: `nil`: the event is new.
    private static func lock(
        _ key: EventKey, isNew: Bool, within reach: AppReach, if condition: WriteCondition, now: Date,
        on connection: PostgresConnection
    ) async throws -> Before? {
        let present: PostgresQuery = """
            select version, starts_at as "startsAt", ends_at as "endsAt", ended_at as "endedAt",
                (select at from event_starts where event_key = key) as "startAt",
                ended_at is not null or cancelled_at is not null as "isOver",
                expired_at is not null and cancelled_at is null as "isExpired"
            from events where key = \(key.rawValue) for no key update
            """
        let row = try await isNew ? nil : connection.query(present).first
        let isReached = try await isNew ? true : EventReach.reaches(reach, event: key, on: connection)
        if isNew || !isReached { try await EventReach.requireFree(key, for: reach, now: now, on: connection) }
        guard isReached else {
            if condition != .absent { try condition.check(nil) }
            throw Problem.takenEvent(key)
        }
        let before = try row?.read(Before.self)
        try condition.check(before?.version)
        return before
    }

    /// Opens an event again that the server had closed, if its new declaration reaches into the future. Retiring channels
    /// serve the event again. If an audience has no channel any more, the next alignment creates one. An audience that
    /// got its own `end` stays closed.
    ///
    /// - Throws: `event-ended` if the organiser ended or cancelled the event, or if the declared times are in the past.
    private static func reopen(
        _ specification: EventSpecification, _ before: Before, by actor: AuditActor, now: Date,
        on connection: PostgresConnection
    ) async throws {
        let key = specification.key
        guard before.isExpired else {
            throw Problem(
                .eventEnded,
                "The event \(key) is over and cannot be changed. To continue it, POST /v1/events/\(key)/reopen; for "
                    + "another event, use a new event key.")
        }
        guard specification.reaches(beyond: now) else {
            throw Problem(
                .eventEnded,
                "The event \(key) was closed because neither an end nor anything else was sent for it. To continue "
                    + "it, declare it with an endsAt in the future.")
        }
        WebhookNews.note(events: [key.rawValue], at: now)
        // Wait for a running alignment. If it still saw the event as over, it would retire the event's channels after
        // the event is open again.
        try await connection.query(ChannelStore.lockAlignment)
        let lanes: PostgresQuery = "(array(select lane from audiences where event_key = \(key.rawValue)))"
        if let endedAt = before.endedAt {
            try await LaneRows.change(lanes, at: now, on: connection) { $0.reopen(closedAt: endedAt) }
        }
        try await connection.pipeline([
            keepChannels(of: lanes, now: now),
            AuditRows(by: actor, at: now).insert(
                .eventChanged, .init(eventKey: key), reason: "it had been closed without an end; it lives again"),
        ])
    }

    /// Moves broadcasts that are scheduled relative to the event's start; without a start they wait for one. If the
    /// event is postponed, clears `first_update_at`, so that the event's state is `scheduled` again. The caller holds
    /// the lock on the event's row.
    ///
    /// - Returns: warnings about scheduled broadcasts.
    private static func move(
        _ specification: EventSpecification, _ changes: DeclarationWarnings, on connection: PostgresConnection
    ) async throws -> [String] {
        guard changes.isMoved else { return [] }
        let key = specification.key.rawValue
        let scheduled = try await connection.query(
            """
            select send_at as "sendAt", send_after_start as "afterStart" from broadcasts
            where event_key = \(key) and scheduled
            """
        ).read(DeclarationWarnings.Scheduled.self)
        if changes.isPostponed {
            try await connection.query(
                "update events set first_update_at = null where key = \(key) and first_update_at is not null")
        }
        if scheduled.contains(where: { $0.afterStart != nil }) {
            let startsAt = specification.startsAt ?? EventSpecification.undated
            try await connection.pipeline([
                """
                update broadcasts set send_at = \(startsAt) + make_interval(secs => send_after_start)
                where event_key = \(key) and scheduled and send_after_start is not null
                """, WakeUps.wake([.schedule]),
            ])
        }
        return changes.moving(scheduled)
    }

    /// Inserts the event's own row, unless it exists.
    private static func insert(_ specification: EventSpecification, now: Date) -> PostgresQuery {
        """
        insert into events (key, \(columns), created_at, updated_at)
        values (\(specification.key.rawValue), \(values(specification)), \(now), \(now))
        on conflict (key) do nothing returning key
        """
    }

    /// Writes the declaration of an event whose row is locked, and opens it again if the server had closed it.
    private static func declare(_ specification: EventSpecification, now: Date) -> PostgresQuery {
        """
        update events set (\(columns)) = (\(values(specification))), updated_at = \(now),
            ended_at = null, expired_at = null, version = nextval('resource_versions')
        where key = \(specification.key.rawValue)
        """
    }

    /// The columns of an event's own row that its organiser declares.
    private static let columns: PostgresQuery = """
        name, kind, topics, starts_at, ends_at, channels_open_at, channels_open_before, metadata, season, content,
            defaults
        """

    /// The values of a declaration, in the order of `columns`.
    private static func values(_ specification: EventSpecification) -> PostgresQuery {
        let metadata = specification.metadata?.array
        let defaults = specification.defaults.map { PostgresJSON(bytes: JSONWriter.text($0)) }
        return """
            \(specification.name)::text, \(specification.kind)::text, \(specification.topics ?? [])::text[],
                \(specification.startsAt)::timestamptz, \(specification.endsAt)::timestamptz, \(specification.opensAt)::timestamptz,
                \(specification.channelsOpenBefore)::integer, \(metadata.map(PostgresJSON.init(bytes:)))::json,
                \(SeasonName.named(in: metadata)?.rawValue)::text, \(specification.content)::text, \(defaults)::json
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
        let registered: [String: String] = try rows.reduce(into: [:]) { registered, row in
            registered[try row.decode("topic")] = try row.decode("bundle_id")
        }
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
        let apps = Set(specification.audiences.map(\.bundleID.rawValue))
        let start = specification.start
        let rows = try await connection.query(
            """
            select bundle_id, attributes_type, declaration from content_types
            where bundle_id = any(\(apps.sorted())) order by bundle_id, created_at, attributes_type
            """)
        var names: [BundleID: [String]] = [:]
        for row in rows { names[try row.word("bundle_id"), default: []].append(try row.decode("attributes_type")) }
        var warnings = specification.audiences.compactMap { audience -> String? in
            let ofApp = names[audience.bundleID] ?? []
            guard let name = audience.content ?? specification.content else {
                return ofApp.count < 2
                    ? nil
                    : "\(audience.id.words) names no content type, and the app has \(ofApp.count). Its content is checked by "
                        + "the oldest, \(ofApp[0].quotedJSON). Name one with content."
            }
            return ofApp.contains(name)
                ? nil
                : "\(audience.id.words) names the content type \(name.quotedJSON), which the app does not have. "
                    + "Declare it with PUT /v1/apps/\(audience.bundleID)/contents/…."
        }
        for row in rows where try row.decode(String.self, "attributes_type") == start?.attributesType {
            let type = try row.contentType()
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
