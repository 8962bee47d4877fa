internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension LaneRows {
    /// The statements that write lanes back after `Lane` has changed them: first the changed messages, then the changed
    /// lanes.
    ///
    /// - Parameter loaded: the same lanes as they were, in the same order.
    static func write(_ lanes: [Lane], loaded: [Lane], at now: Date) -> [PostgresQuery] {
        guard !lanes.isEmpty else { return [] }
        noteEnded(lanes, loaded: loaded, at: now)
        var messages: [(lane: Lane, message: LaneMessage)] = []
        var messagesBefore = messages
        var rows: [(lane: Lane, now: Date)] = []
        var rowsBefore = rows
        for (lane, before) in zip(lanes, loaded) {
            // `Lane` changes messages and appends new ones, but removes none. So the messages before and after have the
            // same indices.
            for (message, old) in zip(lane.messages, before.messages)
            where message != old || DeliveryRow.leasedUntil(message, lane) != DeliveryRow.leasedUntil(old, before) {
                messages.append((lane, message))
                messagesBefore.append((before, old))
            }
            guard !isSame(lane, before, at: now) else { continue }
            rows.append((lane, now))
            rowsBefore.append((before, now))
        }
        guard !messages.isEmpty || !rows.isEmpty else { return [] }
        var statements = [Outbox.planning(rows: max(lanes.count, messages.count))]
        if !messages.isEmpty {
            statements.append(
                DeliveryRow.columns.update(messages, from: messagesBefore, ids: messages.compactMap(\.message.id)))
        }
        if !rows.isEmpty { statements.append(columns.update(rows, from: rowsBefore, ids: rows.map(\.lane.id))) }
        return statements
    }

    /// Notes messages that got their final state since the lanes were loaded, including new messages.
    private static func noteEnded(_ lanes: [Lane], loaded: [Lane], at now: Date) {
        var (occurrences, broadcasts): ([Occurrence], Set<UUID>) = ([], [])
        for (lane, before) in zip(lanes, loaded) {
            let ended = lane.messages.enumerated().filter { index, message in
                message.state.isSettled
                    && (!before.messages.indices.contains(index) || !before.messages[index].state.isSettled)
            }.map(\.element)
            occurrences += ended.map { .settled(lane.audience.environment, $0.state, reason: $0.reason) }
            broadcasts.formUnion(ended.map(\.broadcast))
        }
        WebhookNews.note(occurrences, broadcasts: broadcasts, at: now)
    }

    /// Locks lanes, changes them and writes them back, as a part of a larger transaction.
    ///
    /// - Parameters:
    ///   - ids: an expression of `bigint[]`.
    ///   - broadcasts: as for `load`.
    static func change(
        _ ids: PostgresQuery, undoing broadcasts: PostgresQuery? = nil, at now: Date,
        on connection: PostgresConnection, _ verb: (inout Lane) -> Void
    ) async throws {
        try await changeAll(ids, undoing: broadcasts, at: now, on: connection) { lanes in
            for index in lanes.indices { verb(&lanes[index]) }
        }
    }

    /// The same for all lanes together. It also recomputes the expirations of messages that wait, and stores until when
    /// devices need the channels that lanes lost.
    static func changeAll<Result>(
        _ ids: PostgresQuery, undoing broadcasts: PostgresQuery? = nil, at now: Date,
        on connection: PostgresConnection, _ verb: (inout [Lane]) async throws -> Result
    ) async throws -> Result {
        let loaded = try await load(ids, undoing: broadcasts, on: connection)
        var lanes = loaded
        let result = try await verb(&lanes)
        try await judgeExpirations(&lanes, on: connection)
        try await connection.pipeline(write(lanes, loaded: loaded, at: now) + keepChannels(lanes, loaded: loaded))
        return result
    }

    /// Recomputes the expirations of messages that wait on lanes with recipients (`Lane.judgeExpirations`).
    private static func judgeExpirations(_ lanes: inout [Lane], on connection: PostgresConnection) async throws {
        let served = lanes.indices.filter { lanes[$0].channel != nil || !lanes[$0].queue(.tokens).isEmpty }
        let broadcasts = served.flatMap { lanes[$0].pending.map(\.broadcast) }
        guard !broadcasts.isEmpty else { return }
        let rows = try await connection.query(
            "select id, apns_expiration from broadcasts where id = any(\(broadcasts)) and apns_expiration is not null")
        var headers: [UUID: Int] = [:]
        for row in rows { headers[try row.decode("id")] = try row.decode("apns_expiration") }
        for index in served { lanes[index].judgeExpirations(headers) }
    }

    /// Stores until when devices need the channels that lanes lost (`channels.needed_until`).
    private static func keepChannels(_ lanes: [Lane], loaded: [Lane]) -> [PostgresQuery] {
        var neededUntil: [UUID: Date] = [:]
        for (lane, before) in zip(lanes, loaded) where lane.channel?.id != before.channel?.id {
            guard let channel = before.channel?.id, let until = before.channelNeededUntil else { continue }
            neededUntil[channel] = max(neededUntil[channel] ?? until, until)
        }
        guard !neededUntil.isEmpty else { return [] }
        let ids = neededUntil.keys.sorted { $0.uuidString < $1.uuidString }
        return [
            """
            update channels c set needed_until = greatest(c.needed_until, r.until)
            from unnest(\(ids), \(ids.map { neededUntil[$0] })) as r(id, until)
            where c.id = r.id and c.id = any(\(ids))
            """
        ]
    }

    /// Extends the leases that a replica holds on these lanes, because it still works on them. Lanes that the replica does
    /// not hold do not change. Lanes that another transaction has locked do not either: nobody can claim them meanwhile.
    static func extendLeases(
        _ kind: Contract.DeliveryKind = .channel, of ids: [Int], replica: UUID, until leasedUntil: Date,
        in database: Database
    ) async throws {
        try await database.transaction { connection -> ([Lane], [Lane]) in
            let loaded = try await loadFree(ids, on: connection).lanes.filter { $0[kind].lease?.replica == replica }
            var lanes = loaded
            for index in lanes.indices { lanes[index].extendLease(kind, by: replica, until: leasedUntil) }
            return (loaded, lanes)
        } closing: { (loaded: [Lane], lanes: [Lane]) in
            write(lanes, loaded: loaded, at: leasedUntil)
        } _: { _, _ in
        }
    }
}
