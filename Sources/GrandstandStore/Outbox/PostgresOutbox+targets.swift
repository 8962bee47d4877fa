internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// What `Acceptance` decides from, locked until the commit: events before lanes before channels, each in one order.
extension PostgresOutbox {
    static func lock(
        _ targets: Set<BroadcastTarget>, on connection: PostgresConnection, now: Date
    ) async throws -> Acceptance {
        let keys = targets.compactMap(\.eventKey?.rawValue).sorted()
        let channels = targets.compactMap(\.channel).sorted { $0.uuidString < $1.uuidString }
        // One statement locks the lanes of both kinds: each in its own order would be no order.
        let ofEvents: PostgresQuery = "select lane from event_lanes where event_key = any(\(keys))"
        let ofChannels: PostgresQuery = "select id from lanes where channel = any(\(channels))"
        let tokens = targets.compactMap(\.token)
        let parts =
            (keys.isEmpty && targets.count > 0 ? [] : [ofEvents]) + (channels.isEmpty ? [] : [ofChannels])
            + (tokens.isEmpty ? [] : [TokenLanes.ids(tokens)])
        let lanes = parts.dropFirst().reduce(parts.first ?? ofEvents) { "\($0) union all \($1)" }
        let results = try await connection.pipeline(
            [planning(rows: targets.count), lockEvents(keys), audiences(keys)]
                + (tokens.isEmpty ? [] : [TokenLanes.shared, TokenLanes.missing(tokens)])
                + (channels.isEmpty
                    ? [] : [lockLanes("(array(\(lanes)))"), lockChannels(channels), missingLanes(channels)])
                + LaneRows.load("(array(\(lanes)))"))
        return Acceptance(
            targets: try states(events: results[1], audiences: results[2]).merging(
                try channels.isEmpty
                    ? [:] : states(channels: results[tokens.isEmpty ? 4 : 6], lanes: results[results.count - 2])
            ) { event, _ in event }.merging(
                try tokens.isEmpty ? [:] : TokenLanes.states(results[results.count - 2])
            ) { state, _ in state },
            lanes: try LaneRows.lanes(results), now: now)
    }

    private static func lockEvents(_ keys: [String]) -> PostgresQuery {
        """
        select key, ended_at is not null or cancelled_at is not null as is_over,
            first_update_at is not null as is_started, defaults from events
        where key = any(\(keys)) order by key for no key update
        """
    }

    private static func audiences(_ keys: [String]) -> PostgresQuery {
        "select event_key, lane from event_lanes where event_key = any(\(keys)) order by position, lane"
    }

    /// Locks lanes for a transaction that loads them after it has locked channels.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func lockLanes(_ ids: PostgresQuery) -> PostgresQuery {
        "select from lanes where id = any(\(ids)) order by id for no key update"
    }

    private static func lockChannels(_ ids: [UUID]) -> PostgresQuery {
        """
        select id, event_key is null and state = 'active' as takes_broadcasts from channels
        where id = any(\(ids)) order by id for no key update
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

    private static func states(
        events: PostgresRows, audiences: PostgresRows
    ) throws -> [BroadcastTarget: Acceptance.TargetState] {
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in events {
            states[.event(try row.word("key"))] = Acceptance.TargetState(
                isOver: try row.decode("is_over"), isStarted: try row.decode("is_started"),
                defaults: try row.eventDefaults(), lanes: [])
        }
        for row in audiences { states[.event(try row.word("event_key"))]?.lanes.append(try row.decode("lane")) }
        return states
    }

    private static func states(
        channels: PostgresRows, lanes: PostgresRows
    ) throws -> [BroadcastTarget: Acceptance.TargetState] {
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in channels where try row.decode(Bool.self, "takes_broadcasts") {
            states[.channel(try row.decode("id"))] = Acceptance.TargetState(isOver: false, lanes: [])
        }
        for row in lanes {
            guard let channel = try row.decode(UUID?.self, "channel") else { continue }
            states[.channel(channel)]?.lanes.append(try row.decode("lane"))
        }
        return states.filter { !$0.value.lanes.isEmpty }
    }
}
