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
    static func load(_ ids: PostgresQuery, on connection: PostgresConnection) async throws -> [Lane] {
        try lanes(try await connection.pipeline([lock(ids)] + loadLocked(ids)))
    }

    /// Locks and loads those of these lanes that no other transaction has locked. It waits for no lock.
    ///
    /// - Parameter first: statements that come before, in the same round trip.
    /// - Returns: the lanes, in order of their IDs, and the IDs of the lanes that another transaction has locked.
    static func loadFree(
        _ ids: [Int], after first: [PostgresQuery] = [], on connection: PostgresConnection
    ) async throws -> (lanes: [Lane], others: Set<Int>) {
        let results = try await connection.pipeline(
            first + ["select id from lanes where id = any(\(ids)) order by id for no key update skip locked"]
                + loadLocked("\(ids)"))
        let free = Set<Int>(try results[first.count].map { try $0.decode("id") })
        let all = try lanes(results)
        return (all.filter { free.contains($0.id) }, Set(all.map(\.id)).subtracting(free))
    }

    /// The statements that load lanes that the transaction has locked before; `lanes(_:)` reads their rows.
    static func loadLocked(_ ids: PostgresQuery) -> [PostgresQuery] {
        [read(ids), DeliveryRow.read(where: "d.lane = any(\(ids)) and d.settled_at is null")]
    }

    /// Locks and loads lanes for undoing broadcasts: one that is withdrawn, or the ends of an event. Each lane is loaded
    /// with its unsettled messages and with its messages of these broadcasts. It is also loaded with its messages from the
    /// newest content backwards, up to the first message that is of another broadcast and was not cancelled itself.
    ///
    /// - Parameter broadcasts: an expression of `uuid[]`.
    static func load(
        _ ids: PostgresQuery, undoing broadcasts: PostgresQuery, on connection: PostgresConnection
    ) async throws -> [Lane] {
        let messages: PostgresQuery = """
            with recursive chain as (
                select l.id as lane, l.newest_broadcast as broadcast from lanes l where l.id = any(\(ids))
                union
                select c.lane, d.content_before from chain c cross join lateral (
                    select state, content_before from deliveries
                    where broadcast_id = c.broadcast and lane = c.lane offset 0) d
                where d.state = 'cancelled' or c.broadcast = any(\(broadcasts))
            ), wanted as (
                select id from deliveries where lane = any(\(ids)) and settled_at is null
                union
                select d.id from chain c cross join lateral (
                    select id from deliveries where broadcast_id = c.broadcast and lane = c.lane offset 0) d
                union
                select d.id from unnest(\(broadcasts)) as b(id) cross join lateral (
                    select id from deliveries where broadcast_id = b.id offset 0) d
            )
            \(DeliveryRow.read(
                where: "d.lane = any(\(ids)) and d.id = any(array(select id from wanted))",
                // The content of a deleted broadcast cannot become the newest again.
                contentBefore: "(select id from broadcasts where id = d.content_before)"))
            """
        return try lanes(try await connection.pipeline([lock(ids), read(ids), messages]))
    }

    /// Locks lanes in order of their IDs, as every transaction does that locks several.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func lock(_ ids: PostgresQuery) -> PostgresQuery {
        "select from lanes where id = any(\(ids)) order by id for no key update"
    }

    /// - Parameter results: the results of statements that end with those of `loadLocked`.
    /// - Returns: the lanes, in order of their IDs.
    static func lanes(_ results: [PostgresRows]) throws -> [Lane] {
        let (rows, messageRows) = (results[results.count - 2], results[results.count - 1])
        var messages: [Int: [LaneMessage]] = [:]
        for row in messageRows { messages[try row.decode("lane"), default: []].append(try DeliveryRow.message(row)) }
        return try rows.map { row in try lane(row, messages[try row.decode("lane")] ?? []) }
    }
}
