internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// The source of live views. It reads their boards directly from the tables of events, broadcasts and deliveries.
package struct PostgresLiveStore: Sendable {
    private let database: Database

    package init(_ database: Database) { self.database = database }

    /// The boards of these events, restricted to `reach`. An event that does not exist or is out of reach is missing.
    package func boards(
        of keys: Set<EventKey>, within reach: AppReach, now: Date
    ) async throws -> [EventKey: LiveBoard] {
        let lanes: PostgresQuery = reach == .all ? "" : "join lanes l on l.id = d.lane"
        let rows = try await database.query(
            """
            select e.key, e.starts_at, e.first_update_at, e.ended_at, e.cancelled_at, b.id, b.event, b.accepted_at,
                b.send_at, b.scheduled, b.cancelled, c.states, c.counts
            from events e
            left join lateral (
                select * from broadcasts
                where event_key = e.key and \(EventReach.covers(reach, broadcast: "broadcasts"))
                order by accepted_at desc, id desc limit \(LiveBoard.length)) b on true
            left join lateral (
                select array_agg(s.state::text) as states, array_agg(s.n) as counts from (
                    select d.state, count(*) as n from deliveries d \(lanes)
                    where d.broadcast_id = b.id and \(EventReach.covers(reach, lane: "l"))
                    group by d.state) s) c on true
            where e.key = any(\(keys.map(\.rawValue))) and \(EventReach.covers(reach, event: "e.key"))
            order by e.key, b.accepted_at desc, b.id desc
            """)
        var boards: [EventKey: LiveBoard] = [:]
        for row in rows {
            let key: EventKey = try row.word("key")
            let state = try PostgresEventStore.state(row, now: now)
            var board = boards[key] ?? LiveBoard(eventKey: key, state: state, broadcasts: [])
            if let id = try row.decode(UUID?.self, "id") { board.broadcasts.append(try Self.summary(id, row)) }
            boards[key] = board
        }
        return boards
    }

    /// Reads a broadcast from a row with its columns. The lists `states` and `counts` have the same order.
    static func summary(_ id: UUID, _ row: PostgresRow) throws -> BroadcastSummary {
        let states = try row.decode([String]?.self, "states") ?? []
        let counts = try row.decode([Int]?.self, "counts") ?? []
        var summary = BroadcastSummary(
            id: id, event: try row.word("event"), acceptedAt: try row.decode("accepted_at"),
            sendAt: try row.decode("send_at"), isScheduled: try row.decode("scheduled"),
            isCancelled: try row.decode("cancelled"), counts: [:])
        for (text, count) in zip(states, counts) {
            guard let state = Delivery.State(rawValue: text) else { throw UnknownWord(column: "states", text: text) }
            summary.counts[state] = count
        }
        return summary
    }
}
