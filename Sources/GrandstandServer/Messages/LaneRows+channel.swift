internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension LaneRows {
    /// Locks lanes, connects them to a channel or disconnects them, and writes them back. It also writes columns that
    /// no message changes: the audience's attributes, and until when a disconnected channel is needed.
    ///
    /// - Parameters:
    ///   - ids: an expression of `bigint[]`.
    ///   - verb: changes a lane and returns the result of `Lane.disconnect`; `nil` if no channel is disconnected.
    static func move(
        _ ids: PostgresQuery, at now: Date, on connection: PostgresConnection, _ verb: (inout Lane) -> Date?
    ) async throws {
        let loaded = try await load(ids, on: connection)
        guard !loaded.isEmpty else { return }
        var lanes = loaded
        var neededUntil: [UUID: Date] = [:]
        for index in lanes.indices {
            let channel = lanes[index].channel?.id
            guard let until = verb(&lanes[index]), let channel else { continue }
            neededUntil[channel] = max(neededUntil[channel] ?? until, until)
        }
        try await judgeExpirations(&lanes, on: connection)
        try await connection.pipeline(
            write(lanes, loaded: loaded, at: now) + writeAttributes(lanes, loaded: loaded)
                + (neededUntil.isEmpty ? [] : [keep(neededUntil)]))
    }

    /// Recomputes the expirations of messages that wait on lanes with recipients (`Lane.judgeExpirations`).
    static func judgeExpirations(_ lanes: inout [Lane], on connection: PostgresConnection) async throws {
        let served = lanes.indices.filter { lanes[$0].channel != nil || !lanes[$0].queue(.tokens).isEmpty }
        let broadcasts = served.flatMap { lanes[$0].pending.map(\.broadcast) }
        guard !broadcasts.isEmpty else { return }
        let rows = try await connection.query(
            "select id, apns_expiration from broadcasts where id = any(\(broadcasts)) and apns_expiration is not null")
        var headers: [UUID: Int] = [:]
        for row in rows { headers[try row.decode("id")] = try row.decode("apns_expiration") }
        for index in served { lanes[index].judgeExpirations(headers) }
    }

    /// The statements that write the changed attributes of the lanes' audiences. `write` leaves these columns out.
    ///
    /// - Parameter loaded: the same lanes as they were, in the same order.
    static func writeAttributes(_ lanes: [Lane], loaded: [Lane]) -> [PostgresQuery] {
        let changed = zip(lanes, loaded).filter { $0.audience != $1.audience }.map(\.0)
        guard !changed.isEmpty else { return [] }
        // The attributes are copied from the rows of `audiences`, which this transaction wrote before.
        return [
            """
            update lanes l set (\(AudienceColumns.laneAttributes)) = (\(AudienceColumns.laneAttributes(of: "u")))
            from audiences u where u.lane = l.id and l.id = any(\(changed.map(\.id)))
            """
        ]
    }

    /// Stores until when devices need each channel (`channels.needed_until`), as the lanes of the channel know it.
    private static func keep(_ neededUntil: [UUID: Date]) -> PostgresQuery {
        let ids = neededUntil.keys.sorted { $0.uuidString < $1.uuidString }
        return """
            update channels c set needed_until = greatest(c.needed_until, r.until)
            from unnest(\(ids), \(ids.map { neededUntil[$0] })) as r(id, until)
            where c.id = r.id and c.id = any(\(ids))
            """
    }
}
