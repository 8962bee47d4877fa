internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// An organiser undoes the end or the cancellation of an event.
extension EventStore {
    /// Undoes the end or the cancellation of an event. The event takes broadcasts again, with the channels that still
    /// exist, and its start resumes. An `end` that waits is withdrawn. If an `end` may have been sent to an audience,
    /// the newest content is sent again, for devices that were offline. An event that is not over is not changed.
    ///
    /// - Parameter audiences: the audiences to reopen; `nil`: all, including audiences that had got an `end` of their
    ///   own.
    /// - Throws: `event-not-found`, `forbidden`; `invalid-request` for an audience that the event does not have.
    func reopen(
        _ key: EventKey, audiences chosen: [AudienceSelector]?, within reach: AppReach, by actor: AuditActor, now: Date
    ) async throws -> Contract.ReopenedEvent {
        let now = now.inMicroseconds
        let (opened, broadcasts) = try await database.transaction { connection -> (Opened, [UUID]) in
            // Wait for a running alignment. If it still saw the event as over, it would retire the event's channels
            // after the event is open again. An alignment may also lock the event, so this transaction takes the
            // alignment's lock before the event's.
            try await connection.query(ChannelStore.lockAlignment)
            let events = try await connection.query(
                """
                select ended_at is not null or cancelled_at is not null as is_over from events
                where key = \(key.rawValue) for no key update
                """)
            guard let event = events.first else { throw Problem.noEvent(key) }
            try await EventReach.require(reach, event: key, on: connection)
            // Locks all lanes of the event in order of their IDs, even if only some audiences were chosen: `sendNews`
            // accepts broadcasts, and an acceptance locks all lanes of the event.
            try await connection.query(
                LaneRows.lock(
                    "(array(select lane from audiences where event_key = \(key.rawValue)))"))
            let lanes = try await Self.lanes(of: key, chosen, on: connection)
            let (ends, isChanged) = try await Self.takeBack(lanes.map(\.id), of: key, now: now, on: connection)
            let isOver: Bool = try event.decode("is_over")
            guard isChanged || isOver else { return (([], []), []) }
            if isOver { WebhookNews.note(events: [key.rawValue], at: now) }
            try await connection.pipeline([
                """
                update events set ended_at = null, expired_at = null, cancelled_at = null, reopened_at = \(now),
                    updated_at = \(now) where key = \(key.rawValue)
                """,
                Self.keepChannels(of: "\(lanes.map(\.id))", now: now),
                AuditRows(by: actor, at: now).insert(
                    .eventReopened, .init(eventKey: key), of: Set(lanes.map(\.audience.bundleID))),
                WakeUps.wake([.channels]),
            ])
            try await Self.withdraw(ends.cancelled, by: actor, now: now, on: connection)
            try await Self.openStart(of: key, now: now, on: connection)
            let broadcasts =
                try await ends.resent
                + Self.sendNews(ends.news, of: key, by: actor, now: now, on: connection)
            // Of an event that was not over, only the audiences that had an end were opened.
            let audiences = isOver ? Set(lanes.map(\.audience)) : ends.opened
            return (try await Self.opened(audiences, of: key, ends, on: connection), broadcasts)
        }
        guard let event = try await event(key, now: now) else {
            throw Problem(.eventNotFound, "The event was removed while it was being opened again.")
        }
        return Contract.ReopenedEvent(
            channels: opened.channels, broadcasts: broadcasts.map(\.words),
            warnings: opened.warnings + (try await outlook(of: key, now: now)), event.value)
    }

    /// The opened audiences in the event's order, and warnings about what cannot be undone.
    private typealias Opened = (channels: [Contract.ReopenedChannel], warnings: [String])

    private struct AudienceLane {
        let id: Int
        let audience: Audience.ID
    }

    /// What was found when the ends were undone.
    private struct Ends {
        /// Audiences that took no messages.
        var opened: Set<Audience.ID> = []
        /// Audiences whose devices may have got an end.
        var mayHaveEnded: Set<Audience.ID> = []
        /// The broadcasts of ends that are not sent any more.
        var cancelled: Set<UUID> = []
        /// Broadcasts that an end had superseded and that are now sent after all, in order of acceptance.
        var resent: [UUID] = []
        /// The audiences whose newest content must be sent once more. The key is the broadcast that has this content.
        var news: [UUID: Set<Audience.ID>] = [:]
    }

    /// The lanes of all audiences that the event has now, or of those chosen.
    ///
    /// - Throws: `invalid-request` if a selector names no audience of the event.
    private static func lanes(
        of key: EventKey, _ chosen: [AudienceSelector]?, on connection: PostgresConnection
    ) async throws -> [AudienceLane] {
        let rows = try await connection.query(
            """
            select lane, bundle_id, environment, variant from audiences where event_key = \(key.rawValue)
            """)
        let lanes = try rows.map { AudienceLane(id: try $0.decode("lane"), audience: try AudienceColumns.id($0)) }
        guard let chosen else { return lanes }
        try chosen.require(among: Set(lanes.map(\.audience)))
        return lanes.filter { lane in chosen.contains { $0.matches(lane.audience) } }
    }

    private static func takeBack(
        _ ids: [Int], of key: EventKey, now: Date, on connection: PostgresConnection
    ) async throws -> (ends: Ends, isChanged: Bool) {
        let loaded = try await LaneRows.load(
            "\(ids)",
            undoing: "array(select id from broadcasts where event_key = \(key.rawValue) and event = 'end')",
            on: connection)
        var (lanes, ends) = (loaded, Ends())
        for index in lanes.indices {
            if (lanes[index].fencedAt ?? lanes[index].closedAt) != nil { ends.opened.insert(lanes[index].audience.id) }
            let (mayHaveLeft, needsNews) = lanes[index].takeBackEnd(at: now)
            if mayHaveLeft { ends.mayHaveEnded.insert(lanes[index].audience.id) }
            if needsNews, let newest = lanes[index].newest {
                ends.news[newest, default: []].insert(lanes[index].audience.id)
            }
            for (message, before) in zip(lanes[index].messages, loaded[index].messages)
            where message.state != before.state {
                if message.isEnd, message.state == .cancelled { ends.cancelled.insert(message.broadcast) }
                if before.state.isSettled, !message.state.isSettled, !ends.resent.contains(message.broadcast) {
                    ends.resent.append(message.broadcast)
                }
            }
        }
        guard lanes != loaded else { return (ends, false) }
        // The audience's storage policy may have changed after a message was superseded. So the expiration of a message
        // that is sent after all is computed again.
        try await LaneRows.judgeExpirations(&lanes, on: connection)
        try await connection.pipeline(
            LaneRows.write(lanes, loaded: loaded, at: now) + LaneRows.writeAttributes(lanes, loaded: loaded)
                + [WakeUps.wake(Set(lanes.flatMap(\.topics)))])
        return (ends, true)
    }

    /// Withdraws ends that were sent to nobody, in the same way as other broadcasts are withdrawn.
    private static func withdraw(
        _ ends: Set<UUID>, by actor: AuditActor, now: Date, on connection: PostgresConnection
    ) async throws {
        guard !ends.isEmpty else { return }
        let rows = try await connection.query(
            """
            update broadcasts b set cancelled = true, withdrawn_by = \(actor.text)
            where b.id = any(\(Array(ends))) and not b.cancelled and not b.shown and not exists (
                select from deliveries where broadcast_id = b.id and (state <> 'cancelled' or attempts > 0))
            returning b.id
            """)
        let audit = AuditRows(by: actor, at: now)
        let withdrawn: [UUID] = try rows.map { try $0.decode("id") }
        WebhookNews.note(broadcasts: withdrawn, at: now)
        try await connection.pipeline(withdrawn.map { audit.withdrawal(of: $0, wasScheduled: false) })
    }

    /// Resumes the start of the event's activities if the start's window (`StartWindow`) is not over. An installation
    /// that already got a start gets no other.
    private static func openStart(of key: EventKey, now: Date, on connection: PostgresConnection) async throws {
        let rows = try await connection.query(
            """
            select \(windowColumns)
            from event_starts s join events e on e.key = s.event_key
            where s.event_key = \(key.rawValue) and s.stopped_at is null for no key update of s
            """)
        guard let window = try rows.first?.startWindow() else { return }
        try await connection.pipeline([
            "update event_starts set opens_at = \(window.from) where event_key = \(key.rawValue)",
            StartStore.makeDue(key, now: now), WakeUps.wake([.starts]),
        ])
    }

    /// Sends the newest content from before the end once more. So APNs stores this content, not the end, for devices
    /// that are offline.
    ///
    /// - Returns: the IDs of the new broadcasts. Content that is refused now is not sent. For example, the event may
    ///   have activities with tokens by now, and the size limit for tokens is lower than for channels.
    private static func sendNews(
        _ news: [UUID: Set<Audience.ID>], of key: EventKey, by actor: AuditActor, now: Date,
        on connection: PostgresConnection
    ) async throws -> [UUID] {
        guard !news.isEmpty else { return [] }
        let rows = try await connection.query(
            """
            select id, 'update' as event, content_state, null::json as alert, stale_date, null::bigint as dismissal_date,
                relevance_score, by_variant
            from broadcasts where id = any(\(Array(news.keys))) order by accepted_at, id
            """)
        var served: Set<Audience.ID> = []
        let requests = try rows.map { row in
            let audiences = (news[try row.decode("id")] ?? []).subtracting(served)
            served.formUnion(audiences)
            var request = try row.content()
            request.audiences = audiences.map(AudienceSelector.only)
            request.byVariant = request.byVariant.compactMapValues { own in
                own.contentState.map { Contract.VariantContent(contentState: $0) }
            }
            return request
        }
        let results = try await accept(
            requests.filter { $0.audiences?.isEmpty == false }, for: key, by: actor, now: now, on: connection)
        return results.compactMap { try? $0.get().uuid }
    }

    private static func opened(
        _ audiences: Set<Audience.ID>, of key: EventKey, _ ends: Ends, on connection: PostgresConnection
    ) async throws -> Opened {
        let rows = try await connection.query(
            """
            select u.bundle_id, u.environment, u.variant, \(AudienceColumns.wantsChannel("u")) as wants_channel,
                coalesce((select state = 'active' from channels where id = l.channel), false) as is_kept, (
                    select k.channel_id from (select * from channels where event_key = u.event_key offset 0) k
                    where \(AudienceColumns.serves("k", "u")) and k.channel_id is not null
                    order by k.created_at desc limit 1) as latest, (
                    select ae.full_since is not null or \(ChannelStore.places) <= 0
                    from apps a join app_environments ae using (bundle_id)
                    where ae.bundle_id = u.bundle_id and ae.environment = u.environment) as is_full
            from audiences u cross join lateral (select channel from lanes where id = u.lane offset 0) l
            where u.event_key = \(key.rawValue) order by u.position
            """)
        var opened: Opened = ([], [])
        for row in rows {
            let audience = try AudienceColumns.id(row)
            guard audiences.contains(audience) else { continue }
            let wantsChannel: Bool = try row.decode("wants_channel")
            let isNew = try wantsChannel && !row.decode(Bool.self, "is_kept")
            opened.channels.append(
                Contract.ReopenedChannel(
                    bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
                    variant: audience.variant?.rawValue, channel: !wantsChannel ? .none : isNew ? .new : .kept))
            opened.warnings += warnings(
                audience.words, lost: isNew ? try row.decode("latest") : nil,
                lacksPlace: try isNew && row.decode("is_full"), mayHaveEnded: ends.mayHaveEnded.contains(audience))
        }
        return opened
    }

    /// - Parameters:
    ///   - lost: Apple's ID of the channel that was lost.
    ///   - lacksPlace: whether the app has no place for the new channel now.
    ///   - mayHaveEnded: whether APNs may have forwarded an `end` to devices.
    private static func warnings(_ app: String, lost: String?, lacksPlace: Bool, mayHaveEnded: Bool) -> [String] {
        [
            lost.map {
                "The channel \($0) of \(app) was deleted, and its followers are lost."
                    + (lacksPlace ? "" : " A new channel is created; lookups of the event return it.")
            },
            lacksPlace
                ? "There is no place for a new channel of \(app) now: the app has as many channels as its limit or Apple "
                    + "allows. It is created when a place is free. GET /v1/quotas shows which channels use the places."
                : nil,
            mayHaveEnded
                ? "APNs accepted an end for \(app), or may have accepted it. An activity that received it cannot be "
                    + "restored. The others continue."
                : nil,
        ].compactMap(\.self)
    }
}
