package import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import JSON
internal import Postgres

extension EventStore {
    /// Creates the event or replaces its declaration. `ChannelStore.align` then creates or retires channels. If the
    /// server had closed the event on its own and the new declaration reaches into the future, the event is live again,
    /// with the channels that still exist.
    ///
    /// - Parameters:
    ///   - draft: as `init(checking:)` reads it.
    ///   - reach: the caller's reach. It is checked while the event's row is locked.
    /// - Throws: `invalid-request` for an unknown app; `event-ended` for an event that is over; `forbidden`;
    ///   `version-mismatch`.
    package func put(
        _ key: EventKey, _ draft: Contract.EventDraft, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> (event: Versioned<Contract.Event>, created: Bool) {
        let (isNew, isMoved, warnings) = try await change(key, within: reach, by: actor, now: now) {
            try await $0.declare(draft, if: condition)
        }
        var event = try await declared(key, within: reach, now: now)
        event.value.warnings = try await warnings + (isMoved ? outlook(of: key, now: now) : [])
        return (event, isNew)
    }
}

extension EventChange {
    fileprivate func declare(
        _ draft: Contract.EventDraft, if condition: WriteCondition
    ) async throws -> (isNew: Bool, isMoved: Bool, warnings: [String]) {
        // If another writer creates the event now, this waits for it.
        let isNew = try await !connection.query(insertion(draft)).isEmpty
        let before = isNew ? nil : try await Self.lockRow(key, on: connection)
        try await check(before, if: condition)
        if let before {
            if before.isOver { try await reopen(draft, before) }
            try await connection.query(update(draft))
        }
        try await refuseUnknownApps(draft)
        let audiences = try draft.audiences.map { try Audience($0) }
        let contents = try await checkStart(draft, audiences)
        let (apps, warnings) = try await writeAudiences(audiences, started: draft.start?.audiences)
        let moving = try await moveScheduled(draft, from: before)
        try await connection.pipeline([
            EventStore.writeStart(key.rawValue, draft, by: actor), StartStore.makeDue(key, now: now),
            audit.insert(isNew ? .eventCreated : .eventChanged, .init(eventKey: key), of: apps),
            WakeUps.notify([.channels, .starts]),
        ])
        let times = (draft.startsAt?.asStored, draft.endsAt?.asStored)
        let isMoved = before.map { ($0.startsAt, $0.endsAt) != times } ?? false
        return (isNew, isMoved, warnings + moving + contents)
    }

    /// Refuses an event key whose prefix is reserved for other API keys, and an outdated version. With `If-Match`, an
    /// event out of the caller's reach is refused in the same words as an event that does not exist.
    ///
    /// - Parameter before: the event that another transaction has created; `nil`: this transaction inserted it.
    private func check(_ before: Locked?, if condition: WriteCondition) async throws {
        if let before, try await EventReach.reaches(reach, event: key, on: connection) {
            return try condition.check(before.version)
        }
        try await EventReach.refuseReserved(key, for: reach, now: now, on: connection)
        if before == nil || condition != .absent { try condition.check(nil) }
        if before != nil { throw Problem.takenEvent(key) }
    }

    /// Opens an event again that the server had closed, if its new declaration reaches into the future. Retiring channels
    /// serve the event again. If an audience has no channel any more, the next alignment creates one. An audience that
    /// got its own `end` stays closed.
    ///
    /// - Throws: `event-ended` if the organiser ended or cancelled the event, or if the declared times are in the past.
    private func reopen(_ draft: Contract.EventDraft, _ before: Locked) async throws {
        guard let expiredAt = before.expiredAt, draft.reaches(beyond: now) else {
            throw Problem(
                .eventEnded,
                "The event \(key) is over and cannot be changed. To continue it, POST /v1/events/\(key)/reopen or, if it was "
                    + "closed without an end, declare it with an endsAt in the future; for another event, use a new event "
                    + "key.")
        }
        WebhookNews.note(events: [key.rawValue], at: now)
        // Wait for a running alignment. If it still saw the event as over, it would retire the event's channels after
        // the event is open again. It does not wait for this transaction's lock on the event, because it locks no event
        // that is over.
        try await connection.query(ChannelStore.lockAlignment)
        let lanes: PostgresQuery = "(array(select lane from audiences where event_key = \(key.rawValue)))"
        try await LaneRows.change(lanes, at: now, on: connection) { $0.reopen(closedAt: expiredAt) }
        try await connection.query(reviveChannels(of: lanes))
    }

    /// Moves broadcasts that are scheduled relative to the event's start; without a start they wait for one. If the
    /// event is postponed, clears `first_update_at`: until the new start the event is not live, even if messages were sent
    /// before. Only a new update makes it live earlier. The caller holds the lock on the event's row.
    ///
    /// - Returns: warnings about what does not move, because it has a time of its own.
    private func moveScheduled(_ draft: Contract.EventDraft, from before: Locked?) async throws -> [String] {
        let startsAt = draft.startsAt?.asStored
        guard let before, before.startsAt != startsAt else { return [] }
        let isPostponed = startsAt.map { $0 > max(now, before.startsAt ?? now) } ?? false
        try await connection.pipeline([
            "update events set first_update_at = null where key = \(key.rawValue) and \(isPostponed)",
            """
            update broadcasts
            set send_at = \(draft.startsAt ?? .undated) + make_interval(secs => send_after_start)
            where event_key = \(key.rawValue) and scheduled and send_after_start is not null
            """, WakeUps.notify([.schedule]),
        ])
        let fixed = try await connection.query(
            """
            select send_at from broadcasts
            where event_key = \(key.rawValue) and scheduled and send_after_start is null order by send_at
            """)
        var kept: [String] = []
        if let first = try fixed.first?.decode(Date.self, "send_at") {
            kept.append("\(fixed.count) scheduled messages, the first at \(RFC3339.text(first))")
        }
        if let at = before.startAt, draft.start?.at?.asStored == at {
            kept.append("the start of cards at \(RFC3339.text(at))")
        }
        return kept.map {
            "startsAt was changed. What has a time of its own keeps it: \($0). A sendAt such as {\"afterStart\": -600}, and a "
                + "start without at, move with the event."
        }
    }

    /// Inserts the event's own row, unless it exists.
    private func insertion(_ draft: Contract.EventDraft) -> PostgresQuery {
        """
        insert into events (key, \(Self.columns), created_at, updated_at)
        values (\(key.rawValue), \(values(draft)), \(now), \(now))
        on conflict (key) do nothing returning key
        """
    }

    /// Writes the declaration of an event whose row is locked, and opens it again if the server had closed it.
    private func update(_ draft: Contract.EventDraft) -> PostgresQuery {
        """
        update events set (\(Self.columns)) = (\(values(draft))), updated_at = \(now),
            ended_at = null, expired_at = null, version = nextval('resource_versions')
        where key = \(key.rawValue)
        """
    }

    /// The columns of an event's own row that its organiser declares.
    private static let columns: PostgresQuery = """
        name, kind, topics, starts_at, ends_at, channels_open_at, channels_open_before, metadata, season, content,
            defaults
        """

    /// The values of a declaration, in the order of `columns`.
    private func values(_ draft: Contract.EventDraft) -> PostgresQuery {
        let metadata = draft.metadata?.utf8
        let defaults = draft.defaults.map { PostgresJSON(bytes: JSONWriter.text($0)) }
        return """
            \(draft.name)::text, \(draft.kind)::text, \(draft.topics ?? [])::text[],
                \(draft.startsAt)::timestamptz, \(draft.endsAt)::timestamptz, \(draft.channelsDueAt)::timestamptz,
                \(draft.channelsOpenBefore)::integer, \(metadata.map(PostgresJSON.init(bytes:)))::json,
                \(draft.season)::text, \(draft.content)::text, \(defaults)::json
            """
    }

    private func refuseUnknownApps(_ draft: Contract.EventDraft) async throws {
        let rows = try await connection.query(
            """
            select n.place, n.bundle_id from unnest(\(draft.audiences.map(\.bundleId))) with ordinality as n(bundle_id, place)
            where not exists (
                select from apps a where a.bundle_id = n.bundle_id and not exists (
                    select from app_environments where bundle_id = a.bundle_id and deleting_since is not null))
            order by n.place
            """)
        let errors = try rows.map { row in
            let (place, named): (Int, String) = (try row.decode("place"), try row.decode("bundle_id"))
            return FieldError(
                pointer: "/audiences/\(place - 1)/bundleId",
                detail: "There is no app \(named), in this spelling. Register it with PUT /v1/apps/\(named) first.")
        }
        guard errors.isEmpty else {
            throw Problem(.invalidRequest, "Some audiences name an app that is not registered.", errors: errors)
        }
    }

    /// Checks the content of the event's start by the content type of the start's attributes.
    ///
    /// - Returns: warnings about this content, and about audiences that name none of several content types.
    /// - Throws: `content-mismatch`, `payload-too-large`.
    private func checkStart(_ draft: Contract.EventDraft, _ audiences: [Audience]) async throws -> [String] {
        let apps = Set(draft.audiences.map(\.bundleId))
        let rows = try await connection.query(
            """
            select bundle_id, attributes_type, declaration from content_types
            where bundle_id = any(\(apps.sorted())) order by bundle_id, created_at, attributes_type
            """)
        let types = try rows.map { try $0.contentType() }
        var warnings: [String] = []
        for audience in audiences where (audience.contentType ?? draft.content) == nil {
            let ofApp = types.filter { $0.bundleID == audience.bundleID }
            guard ofApp.count > 1 else { continue }
            warnings.append(
                "\(audience.id.words) names no content type, and the app has \(ofApp.count). Its content is checked by the "
                    + "oldest, \(ofApp[0].attributesType.quotedJSON). Name one with content.")
        }
        guard let start = draft.start, let content = start.contentState?.utf8 else { return warnings }
        for type in types where type.attributesType == start.attributesType {
            let faults = type.faults(of: content, at: "/start/contentState")
            if type.refuses, !faults.isEmpty { throw Problem.contentMismatch(faults) }
            warnings += faults.prefix(5).map { "\($0.pointer): \($0.detail)" }
        }
        return warnings
    }
}
