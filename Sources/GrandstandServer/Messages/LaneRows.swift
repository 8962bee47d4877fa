internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Lanes and their messages in the tables `audiences` and `deliveries`. Lanes are locked, loaded and written back by key;
/// new messages are appended (`LaneRows+write`). Between loading and writing, `Lane` decides what changes.
enum LaneRows {
    /// Locks lanes in order of their IDs, then loads them with their unsettled messages. The locks and the loading are
    /// separate statements. So the loading sees what other transactions committed while this transaction waited for the
    /// locks, including changes of channels and messages.
    ///
    /// - Parameters:
    ///   - ids: an expression of `bigint[]`.
    ///   - broadcasts: an expression of `uuid[]`: a broadcast that is withdrawn, or the ends of an event, if these are
    ///     undone. Then the lanes have the settled messages that this needs, too (`undone`).
    static func load(
        _ ids: PostgresQuery, undoing broadcasts: PostgresQuery? = nil, on connection: PostgresConnection
    ) async throws -> [Lane] {
        let messages = broadcasts.map { [read(ids), undone($0, on: ids)] } ?? loadLocked(ids)
        return try lanes(try await connection.pipeline([lock(ids)] + messages))
    }

    /// Locks and loads those of these lanes that no other transaction has locked. It waits for no lock.
    ///
    /// - Parameter first: statements that come before, in the same round trip.
    /// - Returns: the lanes, in order of their IDs, and the IDs of the lanes that another transaction has locked.
    static func loadFree(
        _ ids: [Int], after first: [PostgresQuery] = [], on connection: PostgresConnection
    ) async throws -> (lanes: [Lane], others: Set<Int>) {
        let results = try await connection.pipeline(
            first + ["select lane from audiences where lane = any(\(ids)) order by lane for no key update skip locked"]
                + loadLocked("\(ids)"))
        let free = Set<Int>(try results[first.count].map { try $0.decode("lane") })
        let all = try lanes(results)
        return (all.filter { free.contains($0.id) }, Set(all.map(\.id)).subtracting(free))
    }

    /// The statements that load lanes that the transaction has locked before; `lanes(_:)` reads their rows.
    static func loadLocked(_ ids: PostgresQuery, _ more: PostgresQuery = "") -> [PostgresQuery] {
        [read(ids, more), DeliveryRow.read(where: "d.lane = any(\(ids)) and d.settled_at is null")]
    }

    /// Reads lanes' unsettled messages and their messages of these broadcasts. Also reads their messages from the newest
    /// content backwards, up to the first message that is of another broadcast and was not cancelled itself.
    private static func undone(_ broadcasts: PostgresQuery, on ids: PostgresQuery) -> PostgresQuery {
        """
        with recursive chain as (
            select lane, newest_broadcast as broadcast from audiences where lane = any(\(ids))
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
    }

    /// Locks lanes in order of their IDs, as every transaction does that locks several.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func lock(_ ids: PostgresQuery) -> PostgresQuery {
        "select from audiences where lane = any(\(ids)) order by lane for no key update"
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
