internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// What a new token gets: the newest content of its audience, or the audience's end.
enum CrowdNews {
    /// The message with the newest content or the end of a lane.
    ///
    /// It gets the highest timestamp of the lane or the second before now (for an end: now), whichever is later. So the
    /// timestamp is at least that of the content, and it is lower than the timestamp of every later update. An activity
    /// that already shows the content with this timestamp does not change. A start that was sent after the content may
    /// show a later timestamp than the content's own. The start's timestamp, too, is lower than the timestamp of every
    /// later update.
    ///
    /// - Returns: `nil`: there is nothing to send, or it is too late to send it.
    static func message(of lane: Lane, at now: Date, on connection: PostgresConnection) async throws -> LaneMessage? {
        let longest = now.addingTimeInterval(TimeInterval(APNsLimits.storedMessageLifetime))
        let end = lane.fencedAt.map { $0.addingTimeInterval(CrowdJoins.endIsOfUse) }
        if let end, end <= now { return nil }
        var broadcast = lane.newest
        if let fencedAt = lane.fencedAt {
            broadcast = try await connection.query(Self.end(of: lane.id, since: fencedAt)).first?.decode("id")
        }
        guard let broadcast else { return nil }
        let expiresAt = min(end ?? longest, longest)
        let clock = Int(now.timeIntervalSince1970.rounded(.down))
        return LaneMessage(
            broadcast: broadcast, isEnd: end != nil, priority: end == nil ? .powerAware : .immediate,
            apnsExpiration: Int(expiresAt.timeIntervalSince1970.rounded(.up)), expiresAt: expiresAt,
            timestamp: max(lane.lastTimestamp, end == nil ? clock - 1 : clock),
            requestID: .drawn(), tokens: TokenProgress())
    }

    /// The `end` that was accepted for an audience; no row: the event was closed automatically. If the event was
    /// reopened, an `end` from before that time counts only if the audience stayed closed.
    ///
    /// - Parameter fencedAt: when the lane was fenced.
    private static func end(of lane: Int, since fencedAt: Date) -> PostgresQuery {
        """
        select b.id from (select event_key from audiences where lane = \(lane) offset 0) v
        cross join lateral (select reopened_at from events where key = v.event_key offset 0) e
        cross join lateral (
            select id, accepted_at, send_at, scheduled from broadcasts
            where event_key = v.event_key and event = 'end' and not cancelled offset 0) b
        cross join lateral (select lane from deliveries where broadcast_id = b.id offset 0) d
        where not b.scheduled and d.lane = \(lane) and coalesce(
            e.reopened_at > \(fencedAt) or coalesce(b.send_at, b.accepted_at) >= e.reopened_at, true)
        order by b.accepted_at desc, b.id desc limit 1
        """
    }

    // MARK: What is shown

    /// Locks a broadcast whose content is about to be sent by another way than its messages, so that it cannot be
    /// withdrawn before the commit; `false`: it was withdrawn.
    static func hold(_ broadcast: UUID, on connection: PostgresConnection) async throws -> Bool {
        try await connection.query(
            "select from broadcasts where id = \(broadcast) and not cancelled for no key update"
        ).first != nil
    }

    /// Records that a broadcast's content is sent to a device separately, not in one of the broadcast's own messages.
    /// After that, the broadcast cannot be withdrawn.
    static func show(_ broadcast: UUID) -> PostgresQuery {
        "update broadcasts set shown = true where id = \(broadcast) and not shown"
    }
}
