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
        let ends = try await change(key, within: reach, by: actor, now: now) { try await $0.reopen(audiences: chosen) }
        let event = try await declared(key, within: reach, now: now).value
        var (channels, warnings): ([Contract.ReopenedChannel], [String]) = ([], [])
        for audience in event.audiences {
            let (app, environment, variant) = (audience.bundleId, audience.environment, audience.variant)
            let selector = Contract.AudienceSelector(bundleId: app, environment: environment, variant: variant)
            guard let mayHaveEnded = ends.mayHaveEnd[selector] else { continue }
            let fate: Contract.ChannelFate =
                audience.isByToken ? .none : audience.channel.state == .active ? .kept : .new
            channels.append(.init(bundleId: app, environment: environment, variant: variant, channel: fate))
            if fate == .new {
                warnings.append(
                    "\(audience.words) gets a new channel. If it had one before, the followers of that are lost; lookups of "
                        + "the event return the new one.")
            }
            if mayHaveEnded {
                warnings.append(
                    "APNs accepted an end for \(audience.words), or may have accepted it. An activity that received it "
                        + "cannot be restored. The others continue.")
            }
        }
        return Contract.ReopenedEvent(
            channels: channels, broadcasts: ends.resent.map(\.text),
            warnings: warnings + (try await outlook(of: key, now: now)), event)
    }
}

extension EventChange {
    /// What was found when the ends of the chosen lanes were undone.
    fileprivate struct UndoneEnds {
        var lanes: [Lane] = []
        /// The audiences that took no messages: all of an event that was over, otherwise those that had an end. With each,
        /// whether its devices may have got the end.
        var mayHaveEnd: [Contract.AudienceSelector: Bool] = [:]
        /// Broadcasts that are sent now: those that an end had superseded, in order of acceptance, and the newest content.
        var resent: [UUID] = []
        /// The audiences whose newest content must be sent once more.
        var lackNews: [Contract.AudienceSelector] = []

        mutating func takeBack(_ lane: inout Lane, at now: Date) {
            let before = lane
            let (mayHaveLeft, needsNews) = lane.takeBackEnd(at: now)
            lanes.append(lane)
            if (before.fencedAt ?? before.closedAt) != nil { mayHaveEnd[.init(lane.audience.id)] = mayHaveLeft }
            if needsNews { lackNews.append(.only(lane.audience.id)) }
            for (message, before) in zip(lane.messages, before.messages)
            where before.state.isSettled && !message.state.isSettled && !resent.contains(message.broadcast) {
                resent.append(message.broadcast)
            }
        }
    }

    fileprivate func reopen(audiences chosen: [Contract.AudienceSelector]?) async throws -> UndoneEnds {
        // Wait for a running alignment. If it still saw the event as over, it would retire the event's channels
        // after the event is open again. An alignment may also lock the event, so this transaction takes the
        // alignment's lock before the event's.
        try await connection.query(ChannelStore.lockAlignment)
        let isOver = try await lock().isOver
        // Locks all lanes of the event in order of their IDs, even if only some audiences were chosen: the acceptance of
        // the newest content locks all lanes of the event.
        var ends = UndoneEnds()
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
        guard isOver || !ends.mayHaveEnd.isEmpty else { return ends }
        if isOver { WebhookNews.note(events: [key.rawValue], at: now) }
        // Ends that were sent to nobody are withdrawn.
        let withdrawn = try await connection.query(
            """
            update broadcasts b set cancelled = true, withdrawn_by = \(actor.text)
            where b.event_key = \(key.rawValue) and b.event = 'end' and not b.scheduled and not b.cancelled and not b.shown
                and exists (select from deliveries where broadcast_id = b.id)
                and not exists (
                    select from deliveries where broadcast_id = b.id and (state <> 'cancelled' or attempts > 0))
            returning id
            """)
        try await connection.pipeline(withdrawn.map { audit.withdrawal(of: try $0.decode("id")) })
        try await connection.pipeline([
            """
            update events set ended_at = null, expired_at = null, cancelled_at = null, reopened_at = \(now),
                updated_at = \(now) where key = \(key.rawValue)
            """,
            reviveChannels(of: "\(ends.lanes.map(\.id))"),
            audit.insert(.eventReopened, .init(eventKey: key), of: Set(ends.lanes.map(\.audience.bundleID))),
            // The start resumes at its time (`StartWindow.from`). An installation that already got one gets no other.
            """
            update event_starts s set opens_at = least(s.asked_at, coalesce(s.at, e.starts_at)) from events e
            where e.key = s.event_key and e.key = \(key.rawValue) and s.stopped_at is null
            """,
            StartStore.makeDue(key, now: now),
            WakeUps.notify(Set(ends.lanes.flatMap(\.topics)).union([.channels, .starts])),
        ])
        // An update without content takes the newest there is. So APNs stores it, not the end, for devices that are
        // offline.
        if !ends.lackNews.isEmpty {
            let news = try await accept(.init(event: .update, audiences: ends.lackNews))
            // A content that is refused now does not keep the event closed.
            if case .success(let id) = news { ends.resent.append(id) }
        }
        return ends
    }
}
