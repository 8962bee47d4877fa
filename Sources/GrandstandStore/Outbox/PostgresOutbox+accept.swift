internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresOutbox {
    package func accept(
        _ items: [BroadcastIntake], now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>] {
        try await database.transaction { connection in
            let keys = Set(items.map(\.eventKey.rawValue))
            var acceptance = Acceptance(
                events: try await Self.lockEvents(keys, on: connection), now: now, plan: plan)
            let results = items.map { item in
                Result { () throws(Problem) in try acceptance.add(item) }
            }
            try await Self.write(acceptance, on: connection)
            return results
        }
    }

    package func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int {
        try await database.transaction { connection in
            let due = try await connection.query(
                """
                select event_key from broadcasts where scheduled and send_at <= \(now) and event_key is not null
                order by send_at, accepted_at, id limit \(limit)
                """)
            guard !due.isEmpty else { return 0 }
            // Events before their broadcasts, as whoever cancels an event takes them.
            let keys = Set(try due.map { try $0.decode(String.self, "event_key") })
            var acceptance = Acceptance(
                events: try await Self.lockEvents(keys, on: connection), now: now, plan: plan)
            let rows = try await connection.query(
                """
                select id, event_key, event, content_state, alert, stale_date, dismissal_date, relevance_score,
                    priority, expires_in, apns_expiration, audiences, accepted_at
                from broadcasts where scheduled and send_at <= \(now) and event_key = any(\(keys.sorted()))
                order by send_at, accepted_at, id limit \(limit) for update skip locked
                """)
            let scheduled = try rows.map(ScheduledBroadcast.init)
            var refused: [(id: UUID, detail: String)] = []
            for broadcast in scheduled {
                do throws(Problem) {
                    try acceptance.promote(broadcast)
                } catch {
                    refused.append((broadcast.id, error.detail))
                }
            }
            try await Self.write(acceptance, on: connection)
            try await connection.query(
                """
                update broadcasts b set scheduled = false, warnings = case when r.detail is null then b.warnings
                    else b.warnings || ('not sent: ' || r.detail) end
                from unnest(\(scheduled.map(\.id))) as s(id)
                left join unnest(\(refused.map(\.id)), \(refused.map(\.detail))) as r(id, detail) using (id)
                where b.id = s.id
                """)
            return scheduled.count
        }
    }

    /// Locks the events and their lanes, events first, each in one order, and reads what `Acceptance` decides from.
    private static func lockEvents(
        _ keys: Set<String>, on connection: PostgresConnection
    ) async throws -> [String: Acceptance.EventState] {
        let names = keys.sorted()
        let results = try await connection.pipeline([
            """
            select key, ended_at is not null or cancelled_at is not null as is_over from events
            where key = any(\(names)) order by key for no key update
            """,
            """
            select u.event_key, u.bundle_id, u.environment, u.storage_policy, u.position, l.id as lane,
                l.fenced_at is not null as is_fenced, c.channel_id
            from audiences u join lanes l on l.id = u.lane left join channels c on c.id = l.channel
            where u.event_key = any(\(names)) order by l.id for no key update of l
            """,
        ])
        var events: [String: Acceptance.EventState] = [:]
        for row in results[0] {
            events[try row.decode("key")] = Acceptance.EventState(isOver: try row.decode("is_over"), lanes: [])
        }
        for row in results[1] {
            let lane = Acceptance.LaneState(
                audience: Audience(
                    bundleID: try row.word("bundle_id"), environment: try row.word("environment"),
                    storagePolicy: try row.word("storage_policy")),
                position: try row.decode("position"), id: try row.decode("lane"),
                isFenced: try row.decode("is_fenced"), channelID: try row.decode("channel_id"))
            events[try row.decode("event_key")]?.lanes.append(lane)
        }
        for key in events.keys { events[key]?.lanes.sort { $0.position < $1.position } }
        return events
    }

    /// Writes everything that was decided, in one round trip.
    private static func write(_ acceptance: Acceptance, on connection: PostgresConnection) async throws {
        guard !acceptance.broadcasts.isEmpty || !acceptance.deliveries.isEmpty else { return }
        let lanes = Array(Set(acceptance.deliveries.map(\.lane))).sorted()
        try await connection.pipeline([
            insertBroadcasts(acceptance.broadcasts),
            insertDeliveries(acceptance.deliveries),
            supersede(lanes: lanes, states: "('waiting', 'queued')", now: acceptance.now),
            updateLanes(lanes, acceptance: acceptance),
            updateEvents(acceptance),
            "select pg_notify(\(WakeTopic.outbox.rawValue), '')",
            "select pg_notify(\(WakeTopic.channels.rawValue), '') where \(!acceptance.endedEvents.isEmpty)",
        ])
    }

    private static func insertBroadcasts(_ rows: [Acceptance.BroadcastRow]) -> PostgresQuery {
        let requests = rows.map(\.intake.request)
        let payloads = requests.map(\.payload)
        return """
            insert into broadcasts (id, event_key, event, content_state, alert, stale_date, dismissal_date,
                relevance_score, priority, expires_in, apns_expiration, audiences, warnings, accepted_at, send_at,
                scheduled)
            select id, event_key, event::broadcast_event, content_state::json, alert::json, stale_date, dismissal_date,
                relevance_score::json, priority, expires_in, apns_expiration, audiences::json,
                case when warning is null then '{}' else array[warning] end, accepted_at, send_at, scheduled
            from unnest(\(rows.map(\.id)), \(rows.map(\.intake.eventKey.rawValue)), \(payloads.map(\.event.rawValue)),
                \(payloads.map { $0.contentState.map(text) }), \(payloads.map { $0.alert.map(text) }),
                \(payloads.map(\.staleDate)), \(payloads.map(\.dismissalDate)),
                \(payloads.map { $0.relevanceScore.map(text) }), \(requests.map(\.priority?.rawValue)),
                \(requests.map(\.expiresIn)), \(requests.map(\.apnsExpiration)),
                \(requests.map { $0.audiences.map(SelectorList.text) }), \(rows.map(\.warnings.first)),
                \(rows.map(\.acceptedAt)), \(requests.map(\.sendAt)), \(rows.map(\.isScheduled)))
                as r(id, event_key, event, content_state, alert, stale_date, dismissal_date, relevance_score, priority,
                    expires_in, apns_expiration, audiences, warning, accepted_at, send_at, scheduled)
            """
    }

    private static func insertDeliveries(_ rows: [Acceptance.DeliveryRow]) -> PostgresQuery {
        """
        insert into deliveries (broadcast_id, lane, state, is_end, alerting, priority, apns_expiration, expires_at,
            apns_request_id, channel_id)
        select broadcast_id, lane, case when channel_id is null then 'waiting' else 'queued' end::delivery_state,
            is_end, alerting, priority, apns_expiration, expires_at, apns_request_id, channel_id
        from unnest(\(rows.map(\.broadcastID)), \(rows.map(\.lane)), \(rows.map(\.isEnd)), \(rows.map(\.isAlerting)),
            \(rows.map(\.priority.rawValue)), \(rows.map(\.apnsExpiration)), \(rows.map(\.expiresAt)),
            \(rows.map(\.requestID)), \(rows.map(\.channelID)))
            with ordinality as r(broadcast_id, lane, is_end, alerting, priority, apns_expiration, expires_at,
                apns_request_id, channel_id, place)
        order by place
        """
    }

    /// Newest wins: a message without alert gives way to any later one of its lane. One with an alert does not, for
    /// people would miss the alert; nor does an end.
    static func supersede(lanes: [Int], states: PostgresQuery, now: Date) -> PostgresQuery {
        """
        update deliveries d set state = 'superseded', settled_at = \(now), next_attempt_at = null
        where d.lane = any(\(lanes)) and d.state in \(states) and not d.alerting and not d.is_end
            and exists (select from deliveries n where n.lane = d.lane and n.id > d.id and n.state in \(pending))
        """
    }

    private static func updateLanes(_ lanes: [Int], acceptance: Acceptance) -> PostgresQuery {
        """
        update lanes l set newest_broadcast = coalesce(r.newest, l.newest_broadcast),
            fenced_at = case when r.is_end then \(acceptance.now) else l.fenced_at end,
            due_at = case when l.leased_until is not null then l.due_at
                when l.channel is null then least(l.due_at, r.expires_at)
                else greatest(\(acceptance.now), l.ready_at) end
        from unnest(\(lanes), \(lanes.map { acceptance.newest[$0] }), \(lanes.map { acceptance.fenced.contains($0) }),
            \(lanes.map { lane in acceptance.deliveries.last { $0.lane == lane }?.expiresAt }))
            as r(id, newest, is_end, expires_at)
        where l.id = r.id
        """
    }

    private static func updateEvents(_ acceptance: Acceptance) -> PostgresQuery {
        let keys = acceptance.startedEvents.union(acceptance.endedEvents).sorted()
        return """
            update events e set
                first_update_at = case when e.key = any(\(acceptance.startedEvents.sorted()))
                    then coalesce(e.first_update_at, \(acceptance.now)) else e.first_update_at end,
                ended_at = case when e.key = any(\(acceptance.endedEvents.sorted()))
                    then coalesce(e.ended_at, \(acceptance.now)) else e.ended_at end
            where e.key = any(\(keys))
            """
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
