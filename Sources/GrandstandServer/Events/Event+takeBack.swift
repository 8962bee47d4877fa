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
        _ key: EventKey, audiences chosen: [Contract.AudienceSelector]?, within reach: AppReach, by actor: AuditActor,
        now: Date
    ) async throws -> Contract.ReopenedEvent {
        let (report, broadcasts) = try await change(key, within: reach, by: actor, now: now) {
            try await $0.reopen(audiences: chosen)
        }
        guard let event = try await event(key, now: now) else {
            throw Problem(.eventNotFound, "The event was removed while it was being opened again.")
        }
        return Contract.ReopenedEvent(
            channels: report.channels, broadcasts: broadcasts.map(\.words),
            warnings: report.warnings + (try await outlook(of: key, now: now)), event.value)
    }
}

extension EventChange {
    /// The opened audiences in the event's order, and warnings about what cannot be undone.
    fileprivate typealias Report = (channels: [Contract.ReopenedChannel], warnings: [String])

    /// What was found when the ends of the chosen lanes were undone.
    private struct Ends {
        var lanes: [Lane] = []
        /// Lanes that took no messages: all of an event that was over, otherwise those that had an end.
        var opened: [Int] = []
        /// Lanes whose devices may have got an end.
        var mayHaveEnded: Set<Int> = []
        /// The broadcasts of ends that are not sent any more.
        var cancelled: Set<UUID> = []
        /// Broadcasts that an end had superseded and that are now sent after all, in order of acceptance.
        var resent: [UUID] = []
        /// The audiences whose newest content must be sent once more. The key is the broadcast that has this content.
        var news: [UUID: [Contract.AudienceSelector]] = [:]

        mutating func takeBack(_ lane: inout Lane, at now: Date) {
            let before = lane
            let (mayHaveLeft, needsNews) = lane.takeBackEnd(at: now)
            lanes.append(lane)
            if (before.fencedAt ?? before.closedAt) != nil { opened.append(lane.id) }
            if mayHaveLeft { mayHaveEnded.insert(lane.id) }
            if needsNews, let newest = lane.newest { news[newest, default: []].append(.only(lane.audience.id)) }
            for (message, before) in zip(lane.messages, before.messages) where message.state != before.state {
                if message.isEnd, message.state == .cancelled { cancelled.insert(message.broadcast) }
                if before.state.isSettled, !message.state.isSettled, !resent.contains(message.broadcast) {
                    resent.append(message.broadcast)
                }
            }
        }
    }

    fileprivate func reopen(audiences chosen: [Contract.AudienceSelector]?) async throws -> (Report, broadcasts: [UUID])
    {
        // Wait for a running alignment. If it still saw the event as over, it would retire the event's channels
        // after the event is open again. An alignment may also lock the event, so this transaction takes the
        // alignment's lock before the event's.
        try await connection.query(ChannelStore.lockAlignment)
        let isOver = try await lock().isOver
        // Locks all lanes of the event in order of their IDs, even if only some audiences were chosen: `sendNews`
        // accepts broadcasts, and an acceptance locks all lanes of the event.
        var ends = Ends()
        try await LaneRows.changeAll(
            "(array(select lane from audiences where event_key = \(key.rawValue)))",
            undoing: "array(select id from broadcasts where event_key = \(key.rawValue) and event = 'end')",
            at: now, on: connection
        ) { all in
            try chosen?.require(among: all.map(\.audience.id))
            for index in all.indices {
                let audience = all[index].audience.id
                if chosen?.contains(where: { $0.matches(audience) }) ?? true { ends.takeBack(&all[index], at: now) }
            }
        }
        guard isOver || !ends.opened.isEmpty else { return (([], []), []) }
        if isOver { WebhookNews.note(events: [key.rawValue], at: now) }
        try await connection.pipeline([
            """
            update events set ended_at = null, expired_at = null, cancelled_at = null, reopened_at = \(now),
                updated_at = \(now) where key = \(key.rawValue)
            """,
            keepChannels(of: "\(ends.lanes.map(\.id))"),
            audit.insert(.eventReopened, .init(eventKey: key), of: Set(ends.lanes.map(\.audience.bundleID))),
            // The start resumes at its time (`StartWindow.from`). An installation that already got one gets no other.
            """
            update event_starts s set opens_at = least(s.asked_at, coalesce(s.at, e.starts_at)) from events e
            where e.key = s.event_key and e.key = \(key.rawValue) and s.stopped_at is null
            """,
            StartStore.makeDue(key, now: now),
            WakeUps.wake(Set(ends.lanes.flatMap(\.topics)).union([.channels, .starts])),
        ])
        try await withdraw(ends.cancelled)
        let broadcasts = try await ends.resent + sendNews(ends.news)
        return (try await report(on: ends.opened, ends.mayHaveEnded), broadcasts)
    }

    /// Withdraws ends that were sent to nobody, in the same way as other broadcasts are withdrawn.
    private func withdraw(_ ends: Set<UUID>) async throws {
        guard !ends.isEmpty else { return }
        let rows = try await connection.query(
            """
            update broadcasts b set cancelled = true, withdrawn_by = \(actor.text)
            where b.id = any(\(Array(ends))) and not b.cancelled and not b.shown and not exists (
                select from deliveries where broadcast_id = b.id and (state <> 'cancelled' or attempts > 0))
            returning b.id
            """)
        let withdrawn: [UUID] = try rows.map { try $0.decode("id") }
        WebhookNews.note(broadcasts: withdrawn, at: now)
        try await connection.pipeline(withdrawn.map { audit.withdrawal(of: $0, wasScheduled: false) })
    }

    /// Sends the newest content from before the end once more. So APNs stores this content, not the end, for devices
    /// that are offline.
    ///
    /// - Returns: the IDs of the new broadcasts. Content that is refused now is not sent. For example, the event may
    ///   have activities with tokens by now, and the size limit for tokens is lower than for channels.
    private func sendNews(_ news: [UUID: [Contract.AudienceSelector]]) async throws -> [UUID] {
        guard !news.isEmpty else { return [] }
        let rows = try await connection.query(
            """
            select b.id, \(BroadcastRows.draft()) from broadcasts b
            where b.id = any(\(Array(news.keys))) order by b.accepted_at, b.id
            """)
        let requests = try rows.map { row in
            let old = try row.draft()
            let byVariant = old.byVariant?.compactMapValues { own in
                own.contentState.map { Contract.VariantContent(contentState: $0) }
            }
            return Contract.BroadcastDraft(
                event: .update, contentState: old.contentState, byVariant: byVariant,
                audiences: news[try row.decode("id")], staleDate: old.staleDate,
                relevanceScore: old.relevanceScore)
        }
        return try await accept(requests).compactMap { try? $0.get().uuid }
    }

    private func report(on lanes: [Int], _ mayHaveEnded: Set<Int>) async throws -> Report {
        let rows = try await connection.query(
            """
            select u.lane, u.bundle_id, u.bundle_id as "bundleId", u.environment, nullif(u.variant, '') as variant,
                case when not \(AudienceColumns.wantsChannel("u")) then 'none'
                    when (select state = 'active' from channels where id = u.channel) then 'kept' else 'new' end
                    as channel, (
                    select k.channel_id from (select * from channels where event_key = u.event_key offset 0) k
                    where \(AudienceColumns.serves("k", "u")) and k.channel_id is not null
                    order by k.created_at desc limit 1) as latest
            from audiences u where u.lane = any(\(lanes)) order by u.position
            """)
        let channels = try rows.read(Contract.ReopenedChannel.self)
        var warnings: [String] = []
        for (row, channel) in zip(rows, channels) {
            let app = try AudienceColumns.id(row).words
            if channel.channel == .new, let lost = try row.decode(String?.self, "latest") {
                warnings.append(
                    "The channel \(lost) of \(app) was deleted, and its followers are lost. A new channel is created; "
                        + "lookups of the event return it.")
            }
            if mayHaveEnded.contains(try row.decode("lane")) {
                warnings.append(
                    "APNs accepted an end for \(app), or may have accepted it. An activity that received it cannot be "
                        + "restored. The others continue.")
            }
        }
        return (channels, warnings)
    }
}
