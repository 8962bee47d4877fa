internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Lanes and their messages in the tables `lanes` and `deliveries`. Lanes are locked, loaded and written back by key;
/// new messages are appended (`LaneRows+write`). Between loading and writing, `Lane` decides what changes.
enum LaneRows {
    /// Locks lanes in order of their IDs, then loads them with their unsettled messages. The locks and the loading are
    /// separate statements. So the loading sees what other transactions committed while this transaction waited for the
    /// locks, including changes of channels and messages.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    /// - Returns: statements of which the last two have the rows for `lanes(_:)`.
    static func load(_ ids: PostgresQuery) -> [PostgresQuery] { [lock(ids)] + loadLocked(ids) }

    /// Locks and loads those of these lanes that no other transaction has locked. The statements wait for no lock.
    ///
    /// - Returns: statements that end with those for `free(_:)`.
    static func loadFree(_ ids: [Int]) -> [PostgresQuery] {
        ["select id from lanes where id = any(\(ids)) order by id for no key update skip locked"] + loadLocked("\(ids)")
    }

    /// The lanes that `loadFree` locked, and the IDs of the lanes that another transaction has locked.
    static func free(_ results: [PostgresRows]) throws -> (lanes: [Lane], others: Set<Int>) {
        let free = Set<Int>(try results[results.count - 3].map { try $0.decode("id") })
        let all = try lanes(results)
        return (all.filter { free.contains($0.id) }, Set(all.map(\.id)).subtracting(free))
    }

    /// Loads lanes that the transaction has locked before.
    static func loadLocked(_ ids: PostgresQuery) -> [PostgresQuery] {
        [LaneRow.read(ids), DeliveryRow.read(where: "d.lane = any(\(ids)) and d.settled_at is null")]
    }

    /// Locks and loads lanes for the withdrawal of a broadcast. Each lane is loaded with its unsettled messages and
    /// with its message of this broadcast. It is also loaded with its messages from the newest content backwards, up to
    /// the first message that is of another broadcast and was not cancelled itself.
    static func load(_ ids: PostgresQuery, withdrawing broadcast: UUID) -> [PostgresQuery] {
        [
            lock(ids), LaneRow.read(ids),
            """
            with recursive chain as (
                select l.id as lane, l.newest_broadcast as broadcast from lanes l where l.id = any(\(ids))
                union
                select c.lane, d.content_before from chain c cross join lateral (
                    select state, content_before from deliveries
                    where broadcast_id = c.broadcast and lane = c.lane offset 0) d
                where d.state = 'cancelled' or c.broadcast = \(broadcast)
            )
            \(DeliveryRow.read(
                where: """
                    d.lane = any(\(ids)) and (d.settled_at is null or d.broadcast_id = \(broadcast)
                        or exists (select from chain c where c.lane = d.lane and c.broadcast = d.broadcast_id))
                    """,
                // The content of a deleted broadcast cannot become the newest again.
                contentBefore: "(select id from broadcasts where id = d.content_before)"))
            """,
        ]
    }

    /// Locks and loads lanes of an event, so that the event's ends can be undone. Each lane is loaded with its
    /// unsettled messages and with its ends that can be undone. It is also loaded with its messages from the newest
    /// content backwards, up to the first message that is neither an end nor cancelled.
    static func load(_ ids: PostgresQuery, takingBackEndsOf key: EventKey) -> [PostgresQuery] {
        [
            lock(ids), LaneRow.read(ids),
            """
            with recursive chain as (
                select l.id as lane, l.newest_broadcast as broadcast from lanes l where l.id = any(\(ids))
                union
                select c.lane, d.content_before from chain c cross join lateral (
                    select state, is_end, content_before from deliveries
                    where broadcast_id = c.broadcast and lane = c.lane offset 0) d
                where d.state = 'cancelled' or d.is_end
            ), wanted as (
                select id from deliveries where lane = any(\(ids)) and settled_at is null
                union
                select d.id from chain c cross join lateral (
                    select id from deliveries where broadcast_id = c.broadcast and lane = c.lane offset 0) d
                union
                select d.id from broadcasts b cross join lateral (
                    select id from deliveries where broadcast_id = b.id offset 0) d
                where b.event_key = \(key.rawValue) and b.event = 'end'
            )
            \(DeliveryRow.read(where: "d.lane = any(\(ids)) and d.id = any(array(select id from wanted))"))
            """,
        ]
    }

    private static func lock(_ ids: PostgresQuery) -> PostgresQuery {
        "select from lanes where id = any(\(ids)) order by id for no key update"
    }

    /// The lanes that `load` found, in order of their IDs.
    ///
    /// - Parameter results: the results of statements that end with those of `load`.
    static func lanes(_ results: [PostgresRows]) throws -> [Lane] {
        let (rows, messageRows) = (results[results.count - 2], results[results.count - 1])
        var messages: [Int: [LaneMessage]] = [:]
        for row in messageRows { messages[try row.decode("lane"), default: []].append(try DeliveryRow.message(row)) }
        return try rows.map { row in try LaneRow.lane(row, messages[try row.decode("lane")] ?? []) }
    }
}
