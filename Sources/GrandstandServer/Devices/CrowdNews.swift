internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// What a member that joins a crowd gets: the newest content of the audience, or its end.
struct CrowdNews {
    let broadcast: UUID
    let address: APNsAddress
    let body: [UInt8]
    let priority: APNsPriority
    let expiresAt: Date

    /// Reads the newest content or the end from the lanes of an audience.
    ///
    /// The message gets the highest timestamp of the lanes or the second before now (for an end: now), whichever is
    /// later. So the timestamp is at least that of the content, and it is lower than the timestamp of every later
    /// update. An activity that already shows the content with this timestamp does not change. A start that was sent
    /// after the content may show a later timestamp than the content's own. The start's timestamp, too, is lower than
    /// the timestamp of every later update.
    ///
    /// - Returns: `nil`: there is nothing to send, it is too late to send it, or the message is too large for a token.
    static func read(
        lane: Lane, lead: Lane, now: Date, on connection: PostgresConnection
    ) async throws -> CrowdNews? {
        let longest = now.addingTimeInterval(TimeInterval(APNsLimits.storedMessageLifetime))
        let end = lead.fencedAt.map { $0.addingTimeInterval(CrowdJoins.endIsOfUse) }
        if let end, end <= now { return nil }
        let broadcast: PostgresQuery =
            if let fencedAt = lead.fencedAt { "(\(Self.end(of: lane.id, since: fencedAt)))" } else {
                "\(lead.newest)::uuid"
            }
        let rows = try await connection.query(
            """
            select \(ChannelStore.addressColumns), b.id, b.event, null::json as alert,
                \(BroadcastRows.contentState("b", for: "l.variant")) as content_state, b.stale_date, b.dismissal_date,
                b.relevance_score, null::json as by_variant
            from lanes l join app_environments ae on ae.bundle_id = l.bundle_id and ae.environment = l.environment
            \(ChannelStore.addressJoins)
            join broadcasts b on b.id = \(broadcast)
            where l.id = \(lane.id)
            """)
        guard let row = rows.first else { return nil }
        var payload = try row.content().payload
        if end == nil {
            // The content may come from an `end`, although the event continues.
            payload.event = .update
            payload.dismissalDate = nil
        }
        let clock = Int(now.timeIntervalSince1970.rounded(.down))
        let last = max(lane.lastTimestamp, lead.lastTimestamp)
        let timestamp = max(last, end == nil ? clock - 1 : clock)
        let body = payload.body(timestamp: timestamp)
        guard body.count <= lane.kind.bodyLimit else { return nil }
        return CrowdNews(
            broadcast: try row.decode("id"), address: try ChannelStore.address(row), body: body,
            priority: end == nil ? .powerAware : .immediate,
            expiresAt: min(end ?? longest, longest))
    }

    /// The `end` that was accepted for an audience; no row: the event was closed automatically. If the event was
    /// reopened, an `end` from before that time counts only if the audience stayed closed.
    ///
    /// - Parameter fencedAt: when the audience's lanes were fenced.
    private static func end(of lane: Int, since fencedAt: Date) -> PostgresQuery {
        """
        select b.id from (select event_key, audience_lane from audience_lanes where lane = \(lane) offset 0) v
        cross join lateral (select reopened_at from events where key = v.event_key offset 0) e
        cross join lateral (
            select id, accepted_at, send_at, scheduled from broadcasts
            where event_key = v.event_key and event = 'end' and not cancelled offset 0) b
        cross join lateral (select lane from deliveries where broadcast_id = b.id offset 0) d
        where not b.scheduled and d.lane = any(array(
            select lane from audience_lanes where event_key = v.event_key and audience_lane = v.audience_lane))
            and coalesce(
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
