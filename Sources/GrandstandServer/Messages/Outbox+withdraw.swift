internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A withdrawal undoes a broadcast that was sent to nobody, as if it had never been accepted. The withdrawal takes the
/// same locks as an acceptance, in the same order. So it runs before or after a claim of the broadcast's lanes, never
/// at the same time.
extension Outbox {
    /// Withdraws a broadcast that was sent to nobody, and logs the actor. The content before the broadcast's is the
    /// newest again. If the broadcast had superseded an unsent update, the update is sent. If the broadcast had ended
    /// an event or a lane, the end is undone.
    ///
    /// - Returns: whether the broadcast could be withdrawn; `nil`: there is none within `reach`.
    func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool? {
        let (isWithdrawn, topics) = try await bulk.transaction { connection -> (Bool?, Set<WakeTopic>) in
            guard let broadcast = try await Self.lockAll(id, on: connection),
                try await EventReach.reaches(reach, broadcast: id, on: connection)
            else { return (nil, []) }
            guard try !broadcast.decode(Bool.self, "shown") else { return (false, []) }
            var (isUnsent, topics): (Bool, Set<WakeTopic>?) = (true, [])
            if try !broadcast.decode(Bool.self, "scheduled") {
                // A superseded message may be sent now after all. The storage policy may have changed since this message
                // was accepted, so `changeAll` computes the message's `apns-expiration` again.
                (isUnsent, topics) = try await LaneRows.changeAll(
                    Self.lanes(of: id), undoing: "\([id])", at: now, on: connection
                ) { lanes in
                    let messages = lanes.flatMap { $0.messages.filter { $0.broadcast == id } }
                    guard messages.allSatisfy(\.reachedNobody) else { return (false, nil) }
                    // No lane changed: the broadcast was already cancelled.
                    let isNews = lanes.indices.reduce(false) { lanes[$1].withdraw(id, at: now) || $0 }
                    guard isNews else { return (true, nil) }
                    // If the event is cancelled, the broadcast was its last `end`, so nothing is sent in place of the
                    // broadcast.
                    if try broadcast.decode(Bool.self, "is_of_cancelled_event") {
                        for index in lanes.indices { lanes[index].close(at: now) }
                    }
                    let ends = messages.contains(where: \.isEnd)
                    return (true, Set(lanes.flatMap(\.topics) + (ends ? [.channels] : [])))
                }
                guard topics != nil else { return (isUnsent, []) }
                let events = try await connection.query(Self.recomputeEventTimes(of: id))
                for event in events where try event.decode(Bool.self, "is_reopened") {
                    WebhookNews.note(events: [try event.decode("key")], at: now)
                }
            }
            // A broadcast that was reported as superseded is reported again.
            WebhookNews.note(broadcasts: [id], at: now)
            try await connection.pipeline([
                "update broadcasts set scheduled = false, cancelled = true, withdrawn_by = \(actor.text) where id = \(id)",
                AuditRows(by: actor, at: now).withdrawal(of: id),
            ])
            return (true, topics ?? [])
        }
        bulk.afterCommit { wakeUps.send(topics) }
        return isWithdrawn
    }

    /// The lanes that have a message of the broadcast, and the other lanes of the event's audiences.
    private static func lanes(of id: UUID) -> PostgresQuery {
        """
        (array(select lane from deliveries where broadcast_id = \(id) union
            select lane from audiences where event_key = (select event_key from broadcasts where id = \(id))))
        """
    }

    /// Locks the broadcast's event, lanes and channel, if it has them, then the broadcast itself.
    ///
    /// - Returns: whether the broadcast still waits for its `sendAt`, whether a device showed its content, and whether its
    ///   event is cancelled; `nil`: there is no such broadcast.
    private static func lockAll(_ id: UUID, on connection: PostgresConnection) async throws -> PostgresRow? {
        try await connection.pipeline([
            """
            select from events where key = (select event_key from broadcasts where id = \(id)) for no key update
            """,
            LaneRows.lock(lanes(of: id)),
            "select from channels where id = (select channel from broadcasts where id = \(id)) for no key update",
        ])
        return try await connection.query(
            """
            select scheduled, shown, exists (
                select from events where key = event_key and cancelled_at is not null) as is_of_cancelled_event
            from broadcasts where id = \(id) for update
            """
        ).first
    }

    /// Recomputes the event's end and its first update. An event is over when every audience got its end, and it
    /// becomes live with the first update that was not withdrawn.
    ///
    /// - Returns: the statement. Its row says whether the event was over and is no longer.
    private static func recomputeEventTimes(of id: UUID) -> PostgresQuery {
        """
        update events e set
            ended_at = case when not exists (
                select from audiences u where u.event_key = e.key and u.fenced_at is null) then e.ended_at end,
            first_update_at = case when w.event <> 'update' or e.first_update_at < w.accepted_at or exists (
                select from broadcasts b where b.event_key = e.key and b.id <> w.id and b.event = 'update'
                    and not b.scheduled and not b.cancelled
                    -- Updates from before a postponement do not count, because the event began anew.
                    and greatest(b.accepted_at, b.send_at) >= e.first_update_at) then e.first_update_at end
        from broadcasts w where w.id = \(id) and e.key = w.event_key and e.cancelled_at is null
        -- The row that is selected is the one before this update.
        returning e.key, e.ended_at is null
            and (select ended_at from events where key = e.key) is not null as is_reopened
        """
    }
}
