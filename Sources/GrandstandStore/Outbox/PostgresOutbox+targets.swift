internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// What `Acceptance` decides from, locked until the commit: events before channels before lanes, each in one order.
extension PostgresOutbox {
    static func lock(
        _ targets: Set<BroadcastTarget>, on connection: PostgresConnection, now: Date
    ) async throws -> [BroadcastTarget: Acceptance.TargetState] {
        let events = targets.compactMap(\.eventKey?.rawValue).sorted()
        let channels = targets.compactMap(\.channel).sorted { $0.uuidString < $1.uuidString }
        if !events.isEmpty, !channels.isEmpty { try await lockTogether(events, channels, on: connection) }
        var states = events.isEmpty ? [:] : try await lockEvents(events, on: connection, now: now)
        guard !channels.isEmpty else { return states }
        states.merge(try await lockChannels(channels, on: connection, now: now)) { event, _ in event }
        return states
    }

    /// Where broadcasts for events and for channels share a transaction, one statement locks the lanes of both: each kind
    /// in its own order would be no order.
    private static func lockTogether(
        _ keys: [String], _ ids: [UUID], on connection: PostgresConnection
    ) async throws {
        try await connection.pipeline([
            planning(rows: keys.count + ids.count),
            "select from events where key = any(\(keys)) order by key for no key update",
            "select from channels where id = any(\(ids)) order by id for no key update",
            missingLanes(ids),
            """
            select from lanes where id = any(array(
                select lane from audiences where event_key = any(\(keys))
                union all select id from lanes where channel = any(\(ids))))
            order by id for no key update
            """,
        ])
    }

    /// `+ 0`: not by reading the index on lanes through.
    private static func lockEvents(
        _ keys: [String], on connection: PostgresConnection, now: Date
    ) async throws -> [BroadcastTarget: Acceptance.TargetState] {
        let results = try await connection.pipeline([
            planning(rows: keys.count),
            """
            select key, ended_at is not null or cancelled_at is not null as is_over,
                first_update_at is not null as is_started from events
            where key = any(\(keys)) order by key for no key update
            """,
            """
            select u.event_key, u.bundle_id, u.environment, u.storage_policy, u.position, u.lane,
                l.fenced_at is not null as is_fenced, c.channel_id, l.newest_broadcast, l.last_timestamp,
                \(isIdle(now)) as is_idle
            from (select * from audiences where event_key = any(\(keys)) order by lane + 0 offset 0) u
            cross join lateral (select * from lanes where id = u.lane for no key update) l
            left join lateral (select channel_id, state from channels where id = l.channel offset 0) c on true
            """,
        ])
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in results[1] {
            states[.event(try row.word("key"))] = Acceptance.TargetState(
                isOver: try row.decode("is_over"), isStarted: try row.decode("is_started"), lanes: [])
        }
        for row in results[2] {
            states[.event(try row.word("event_key"))]?.lanes.append(
                try lane(row, position: try row.decode("position")))
        }
        for key in states.keys { states[key]?.lanes.sort { $0.position < $1.position } }
        return states
    }

    /// A lane `l` without a due time has neither anything pending nor a lease.
    private static func isIdle(_ now: Date) -> PostgresQuery {
        """
        (l.due_at is null and coalesce(l.ready_at <= \(now), true)
            and coalesce(c.state in ('active', 'retiring'), false))
        """
    }

    /// Channels without an event get their lane with their first broadcast.
    private static func missingLanes(_ ids: [UUID]) -> PostgresQuery {
        """
        insert into lanes (bundle_id, environment, storage_policy, channel)
        select c.bundle_id, c.environment, c.storage_policy, c.id from channels c
        where c.id = any(\(ids)) and c.event_key is null and c.state = 'active'
            and not exists (select from lanes l where l.channel = c.id)
        """
    }

    private static func lockChannels(
        _ ids: [UUID], on connection: PostgresConnection, now: Date
    ) async throws -> [BroadcastTarget: Acceptance.TargetState] {
        let results = try await connection.pipeline([
            "select from channels where id = any(\(ids)) order by id for no key update",
            missingLanes(ids),
            """
            select c.id as channel, l.bundle_id, l.environment, l.storage_policy, l.id as lane,
                l.fenced_at is not null as is_fenced, c.channel_id, l.newest_broadcast, l.last_timestamp,
                \(isIdle(now)) as is_idle
            from channels c join lanes l on l.channel = c.id
            where c.id = any(\(ids)) and c.event_key is null and c.state = 'active'
            order by l.id for no key update of l
            """,
        ])
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in results[2] {
            states[.channel(try row.decode("channel"))] = Acceptance.TargetState(
                isOver: false, lanes: [try lane(row, position: 0)])
        }
        return states
    }

    private static func lane(_ row: PostgresRow, position: Int) throws -> Acceptance.LaneState {
        Acceptance.LaneState(
            audience: Audience(
                bundleID: try row.word("bundle_id"), environment: try row.word("environment"),
                storagePolicy: try row.word("storage_policy")),
            position: position, id: try row.decode("lane"), isFenced: try row.decode("is_fenced"),
            channelID: try row.decode("channel_id"), newest: try row.decode("newest_broadcast"),
            idle: try row.decode("is_idle")
                ? Acceptance.IdleLane(lastTimestamp: try row.decode("last_timestamp")) : nil)
    }
}
