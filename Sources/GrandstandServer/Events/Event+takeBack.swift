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
        let (report, broadcasts) = try await database.transaction { connection -> (Report, [UUID]) in
            // Wait for a running alignment. If it still saw the event as over, it would retire the event's channels
            // after the event is open again. An alignment may also lock the event, so this transaction takes the
            // alignment's lock before the event's.
            try await connection.query(ChannelStore.lockAlignment)
            let isOver = try await Self.lock(key, within: reach, on: connection).isOver
            // Locks all lanes of the event in order of their IDs, even if only some audiences were chosen: `sendNews`
            // accepts broadcasts, and an acceptance locks all lanes of the event.
            let (lanes, ends, isChanged) = try await LaneRows.changeAll(
                "(array(select lane from audiences where event_key = \(key.rawValue)))",
                undoing: "array(select id from broadcasts where event_key = \(key.rawValue) and event = 'end')",
                at: now, on: connection
            ) { all in
                try chosen?.require(among: all.map(\.audience.id))
                let loaded = all
                let places = all.indices.filter { place in
                    chosen?.contains { $0.matches(loaded[place].audience.id) } ?? true
                }
                let ends = Self.takeBack(&all, places, at: now)
                return (places.map { all[$0] }, ends, all != loaded)
            }
            guard isOver || isChanged else { return (([], []), []) }
            if isOver { WebhookNews.note(events: [key.rawValue], at: now) }
            try await connection.pipeline([
                """
                update events set ended_at = null, expired_at = null, cancelled_at = null, reopened_at = \(now),
                    updated_at = \(now) where key = \(key.rawValue)
                """,
                Self.keepChannels(of: "\(lanes.map(\.id))", now: now),
                AuditRows(by: actor, at: now).insert(
                    .eventReopened, .init(eventKey: key), of: Set(lanes.map(\.audience.bundleID))),
                // The start resumes at its time (`StartWindow.from`). An installation that already got one gets no other.
                """
                update event_starts s set opens_at = least(s.asked_at, coalesce(s.at, e.starts_at)) from events e
                where e.key = s.event_key and e.key = \(key.rawValue) and s.stopped_at is null
                """,
                StartStore.makeDue(key, now: now),
                WakeUps.wake(Set(lanes.flatMap(\.topics)).union([.channels, .starts])),
            ])
            try await Self.withdraw(ends.cancelled, by: actor, now: now, on: connection)
            let broadcasts =
                try await ends.resent
                + Self.sendNews(ends.news, of: key, by: actor, now: now, on: connection)
            // Of an event that was not over, only the audiences that had an end were opened.
            let audiences = isOver ? Set(lanes.map(\.audience.id)) : ends.opened
            return (try await Self.report(on: audiences, of: key, ends, on: connection), broadcasts)
        }
        guard let event = try await event(key, now: now) else {
            throw Problem(.eventNotFound, "The event was removed while it was being opened again.")
        }
        return Contract.ReopenedEvent(
            channels: report.channels, broadcasts: broadcasts.map(\.words),
            warnings: report.warnings + (try await outlook(of: key, now: now)), event.value)
    }

    /// The opened audiences in the event's order, and warnings about what cannot be undone.
    private typealias Report = (channels: [Contract.ReopenedChannel], warnings: [String])

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
        var news: [UUID: [Audience.ID]] = [:]
    }

    private static func takeBack(_ lanes: inout [Lane], _ places: [Int], at now: Date) -> Ends {
        var ends = Ends()
        for index in places {
            let (before, audience) = (lanes[index], lanes[index].audience.id)
            if (before.fencedAt ?? before.closedAt) != nil { ends.opened.insert(audience) }
            let (mayHaveLeft, needsNews) = lanes[index].takeBackEnd(at: now)
            if mayHaveLeft { ends.mayHaveEnded.insert(audience) }
            if needsNews, let newest = lanes[index].newest { ends.news[newest, default: []].append(audience) }
            for (message, before) in zip(lanes[index].messages, before.messages) where message.state != before.state {
                if message.isEnd, message.state == .cancelled { ends.cancelled.insert(message.broadcast) }
                if before.state.isSettled, !message.state.isSettled, !ends.resent.contains(message.broadcast) {
                    ends.resent.append(message.broadcast)
                }
            }
        }
        return ends
    }

    /// Makes retiring channels of these lanes active again.
    ///
    /// - Parameter lanes: an expression of `bigint[]`.
    static func keepChannels(of lanes: PostgresQuery, now: Date) -> PostgresQuery {
        ChannelStore.move(
            "c.id = any(array(select channel from audiences where lane = any(\(lanes))))", from: [.retiring],
            to: .active, also: ", attempts = 0, retire_at = null", at: now)
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

    /// Sends the newest content from before the end once more. So APNs stores this content, not the end, for devices
    /// that are offline.
    ///
    /// - Returns: the IDs of the new broadcasts. Content that is refused now is not sent. For example, the event may
    ///   have activities with tokens by now, and the size limit for tokens is lower than for channels.
    private static func sendNews(
        _ news: [UUID: [Audience.ID]], of key: EventKey, by actor: AuditActor, now: Date,
        on connection: PostgresConnection
    ) async throws -> [UUID] {
        guard !news.isEmpty else { return [] }
        let rows = try await connection.query(
            """
            select id, 'update' as event, content_state, null::json as alert, stale_date, null::bigint as dismissal_date,
                relevance_score, by_variant
            from broadcasts where id = any(\(Array(news.keys))) order by accepted_at, id
            """)
        let requests = try rows.map { row in
            var request = try row.content()
            request.audiences = news[try row.decode("id")]?.map(AudienceSelector.only)
            request.byVariant = request.byVariant.compactMapValues { own in
                own.contentState.map { Contract.VariantContent(contentState: $0) }
            }
            return request
        }
        let results = try await accept(requests, for: key, by: actor, now: now, on: connection)
        return results.compactMap { try? $0.get().uuid }
    }

    private static func report(
        on audiences: Set<Audience.ID>, of key: EventKey, _ ends: Ends, on connection: PostgresConnection
    ) async throws -> Report {
        let rows = try await connection.query(
            """
            select u.bundle_id, u.environment, u.variant, case when not \(AudienceColumns.wantsChannel("u")) then 'none'
                    when (select state = 'active' from channels where id = u.channel) then 'kept' else 'new' end as fate, (
                    select k.channel_id from (select * from channels where event_key = u.event_key offset 0) k
                    where \(AudienceColumns.serves("k", "u")) and k.channel_id is not null
                    order by k.created_at desc limit 1) as latest, (
                    select ae.full_since is not null or \(ChannelStore.places) <= 0
                    from apps a join app_environments ae using (bundle_id)
                    where ae.bundle_id = u.bundle_id and ae.environment = u.environment) as is_full
            from audiences u where u.event_key = \(key.rawValue) order by u.position
            """)
        var report: Report = ([], [])
        for row in rows {
            let audience = try AudienceColumns.id(row)
            guard audiences.contains(audience) else { continue }
            let fate: Contract.ChannelFate = try row.word("fate")
            report.channels.append(
                Contract.ReopenedChannel(
                    bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
                    variant: audience.variant?.rawValue, channel: fate))
            report.warnings += warnings(
                audience.words, lost: fate == .new ? try row.decode("latest") : nil,
                lacksPlace: try fate == .new && row.decode("is_full"),
                mayHaveEnded: ends.mayHaveEnded.contains(audience))
        }
        return report
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
