internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension LaneRows {
    /// The statements that write lanes back as they were decided: the messages that changed, by their IDs, then the
    /// lanes.
    ///
    /// - Parameter loaded: the same lanes as they were, in the same order.
    static func write(_ lanes: [Lane], loaded: [Lane], at now: Date) -> [PostgresQuery] {
        guard !lanes.isEmpty else { return [] }
        if let ends = Database.ends { ends.add(ended(lanes, loaded: loaded)) }
        let changed = zip(lanes, loaded).flatMap { lane, before in
            // A verb appends messages and changes them; it removes none.
            zip(lane.messages, before.messages).lazy.filter { $0 != $1 }.map(\.0)
        }
        var statements = [PostgresOutbox.planning(rows: max(lanes.count, changed.count))]
        if !changed.isEmpty { statements.append(update(changed)) }
        return statements + [update(lanes, at: now)]
    }

    /// Messages that came to their end between the two, those that were appended among them.
    private static func ended(_ lanes: [Lane], loaded: [Lane]) -> [Occurrence] {
        zip(lanes, loaded).flatMap { lane, before in
            lane.messages.indices.lazy.compactMap { index -> Occurrence? in
                let message = lane.messages[index]
                guard message.state.isSettled,
                    !before.messages.indices.contains(index) || !before.messages[index].state.isSettled
                else { return nil }
                return .settled(lane.audience.environment, message.state, reason: message.reason)
            }
        }
    }

    /// Locks, changes and writes back, for transactions that do more than that.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func change(
        _ ids: PostgresQuery, at now: Date, on connection: PostgresConnection, _ verb: (inout Lane) -> Void
    ) async throws {
        let rows = try await connection.pipeline(load(ids))
        let loaded = try lanes(rows)
        guard !loaded.isEmpty else { return }
        var lanes = loaded
        for index in lanes.indices { verb(&lanes[index]) }
        try await connection.pipeline(write(lanes, loaded: loaded, at: now))
    }

    /// Extends a replica's leases, of those lanes that nobody else has locked. A lane that it does not hold keeps its due
    /// time.
    static func extendLeases(
        of ids: [Int], replica: UUID, until leasedUntil: Date, in database: Database
    ) async throws {
        try await database.transaction { connection -> ([Lane], [Lane]) in
            let rows = try await connection.pipeline(loadFree(ids))
            let loaded = try free(rows).lanes.filter { $0.lease?.replica == replica }
            var lanes = loaded
            for index in lanes.indices { lanes[index].extendLease(by: replica, until: leasedUntil) }
            return (loaded, lanes)
        } closing: { (loaded: [Lane], lanes: [Lane]) in
            write(lanes, loaded: loaded, at: leasedUntil)
        } _: { _, _ in
        }
    }

    /// Appends messages that were accepted, in order.
    ///
    /// - Returns: the statement; its rows have `id` and `lane`.
    static func insert(_ messages: [LaneMessage], in lanes: [Int]) -> PostgresQuery {
        """
        insert into deliveries (broadcast_id, lane, state, is_end, is_start, alerting, rings_until, priority, plain_priority,
            apns_expiration, expires_at, attempts, apns_timestamp, apns_request_id, channel_id, reason, settled_at,
            content_before, content_bytes, alert_bytes)
        select broadcast_id, lane, state::delivery_state, is_end, is_start, alerting, rings_until, priority, plain_priority,
            apns_expiration, expires_at, attempts, apns_timestamp, apns_request_id, channel_id, reason, settled_at,
            content_before, content_bytes, alert_bytes
        from unnest(\(messages.map(\.broadcast)), \(lanes), \(messages.map(\.state.rawValue)),
            \(messages.map(\.isEnd)), \(messages.map(\.isStart)), \(messages.map(\.alerting)), \(messages.map(\.ringsUntil)),
            \(messages.map(\.priority.rawValue)), \(messages.map(\.plainPriority.rawValue)),
            \(messages.map(\.apnsExpiration)), \(messages.map(\.expiresAt)), \(messages.map(\.attempts)),
            \(messages.map(\.timestamp)), \(messages.map(\.requestID)), \(messages.map(\.channelID)),
            \(messages.map(\.reason)), \(messages.map(\.settledAt)), \(messages.map(\.contentBefore)),
            \(messages.map(\.contentBytes)), \(messages.map(\.alertBytes)))
            with ordinality as r(broadcast_id, lane, state, is_end, is_start, alerting, rings_until, priority, plain_priority,
                apns_expiration, expires_at, attempts, apns_timestamp, apns_request_id, channel_id, reason,
                settled_at, content_before, content_bytes, alert_bytes, place)
        order by place returning id, lane
        """
    }

    /// `= any(…)` names the rows once more: a cached plan that was made while the table was empty reads by key then, too.
    private static func update(_ messages: [LaneMessage]) -> PostgresQuery {
        let ids = messages.compactMap(\.id)
        return """
            update deliveries d set state = r.state::delivery_state, alerting = r.alerting, priority = r.priority,
                attempts = r.attempts, refusals = r.refusals, next_attempt_at = r.next_attempt_at, apns_timestamp = r.apns_timestamp,
                apns_request_id = r.apns_request_id, apns_unique_id = r.apns_unique_id, channel_id = r.channel_id,
                reason = r.reason, settled_at = r.settled_at, content_of = r.content_of,
                content_sent = r.content_sent, content_bytes = r.content_bytes,
                fan_out = r.fan_out::json
            from unnest(\(ids), \(messages.map(\.state.rawValue)), \(messages.map(\.alerting)),
                \(messages.map(\.priority.rawValue)), \(messages.map(\.attempts)), \(messages.map(\.refusals)),
                \(messages.map(\.nextAttemptAt)), \(messages.map(\.timestamp)), \(messages.map(\.requestID)), \(messages.map(\.uniqueID)),
                \(messages.map(\.channelID)), \(messages.map(\.reason)), \(messages.map(\.settledAt)),
                \(messages.map(\.contentOf)), \(messages.map(\.contentSent)), \(messages.map(\.contentBytes)),
                \(messages.map { $0.fanOut.map(FanOutText.text) }))
                as r(id, state, alerting, priority, attempts, refusals, next_attempt_at, apns_timestamp, apns_request_id,
                    apns_unique_id, channel_id, reason, settled_at, content_of, content_sent, content_bytes, fan_out)
            where d.id = r.id and d.id = any(\(ids))
            """
    }

    private static func update(_ lanes: [Lane], at now: Date) -> PostgresQuery {
        let ids = lanes.map(\.id)
        return """
            update lanes l set channel = r.channel,
                due_at = case when l.kind in ('channel', 'token') then r.due_at end,
                shard_due_at = case when l.kind = 'crowd' then r.due_at end, rank = r.rank, leased_by = r.leased_by,
                leased_until = r.leased_until, last_timestamp = r.last_timestamp, ready_at = r.ready_at,
                fenced_at = r.fenced_at, closed_at = r.closed_at, newest_broadcast = r.newest,
                stored_until = r.stored_until
            from unnest(\(ids), \(lanes.map { $0.channel?.id }), \(lanes.map { $0.due(at: now) }),
                \(lanes.map { $0.rank(at: now).rawValue }), \(lanes.map { $0.lease?.replica }), \(lanes.map { $0.lease?.until }),
                \(lanes.map(\.lastTimestamp)), \(lanes.map(\.readyAt)), \(lanes.map(\.fencedAt)),
                \(lanes.map(\.closedAt)), \(lanes.map(\.newest)), \(lanes.map(\.storedUntil)))
                as r(id, channel, due_at, rank, leased_by, leased_until, last_timestamp, ready_at, fenced_at,
                    closed_at, newest, stored_until)
            where l.id = r.id and l.id = any(\(ids))
            """
    }
}
