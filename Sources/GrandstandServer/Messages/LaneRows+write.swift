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
    /// - Parameter ids: an expression of `bigint[]`.
    static func change(
        _ ids: PostgresQuery, at now: Date, on connection: PostgresConnection, _ verb: (inout Lane) -> Void
    ) async throws {
        let loaded = try await load(ids, on: connection)
        guard !loaded.isEmpty else { return }
        var lanes = loaded
        for index in lanes.indices { verb(&lanes[index]) }
        try await connection.pipeline(write(lanes, loaded: loaded, at: now))
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
