internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Lanes and their messages in the tables `audiences` and `deliveries`. Lanes are locked, loaded and written back by key;
/// new messages are appended. Between loading and writing, `Lane` decides what changes.
enum LaneRows {
    /// Locks lanes in order of their IDs, then loads them with their unsettled messages. The locks and the loading are
    /// separate statements. So the loading sees what other transactions committed while this transaction waited for the
    /// locks, including changes of channels and messages.
    ///
    /// - Parameters:
    ///   - ids: an expression of `bigint[]`.
    ///   - broadcasts: an expression of `uuid[]`: a broadcast that is withdrawn, or the ends of an event, if these are
    ///     undone. Then the lanes have the settled messages that this needs, too (`forUndo`).
    static func lockLoad(
        _ ids: PostgresQuery, undoing broadcasts: PostgresQuery? = nil, on connection: PostgresConnection
    ) async throws -> [Lane] {
        let messages = broadcasts.map { [select(ids), forUndo($0, on: ids)] } ?? selectLocked(ids)
        return try lanes(try await connection.pipeline([lock(ids)] + messages))
    }

    /// Locks and loads those of these lanes that no other transaction has locked. It waits for no lock.
    ///
    /// - Parameter first: statements that come before, in the same round trip.
    /// - Returns: the lanes, in order of their IDs, and the IDs of the lanes that another transaction has locked.
    static func loadSkipLocked(
        _ ids: [Int], after first: [PostgresQuery] = [], on connection: PostgresConnection
    ) async throws -> (lanes: [Lane], others: Set<Int>) {
        let results = try await connection.pipeline(
            first + ["select lane from audiences where lane = any(\(ids)) order by lane for no key update skip locked"]
                + selectLocked("\(ids)"))
        let free = Set<Int>(try results[first.count].map { try $0.decode("lane") })
        let all = try lanes(results)
        return (all.filter { free.contains($0.id) }, Set(all.map(\.id)).subtracting(free))
    }

    /// The statements that load lanes that the transaction has locked before; `lanes(_:)` reads their rows.
    static func selectLocked(_ ids: PostgresQuery, _ more: PostgresQuery = "") -> [PostgresQuery] {
        [select(ids, more), DeliveryRow.select(where: "d.lane = any(\(ids)) and d.settled_at is null")]
    }

    /// Reads lanes' unsettled messages and their messages of these broadcasts. Also reads their messages from the newest
    /// content backwards, up to the first message that is of another broadcast and was not cancelled itself.
    private static func forUndo(_ broadcasts: PostgresQuery, on ids: PostgresQuery) -> PostgresQuery {
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
        \(DeliveryRow.select(
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

    /// - Parameter results: the results of statements that end with those of `selectLocked`.
    /// - Returns: the lanes, in order of their IDs.
    static func lanes(_ results: [PostgresRows]) throws -> [Lane] {
        let (rows, messageRows) = (results[results.count - 2], results[results.count - 1])
        var messages: [Int: [LaneMessage]] = [:]
        for row in messageRows { messages[try row.decode("lane"), default: []].append(try DeliveryRow.message(row)) }
        return try rows.map { row in try lane(row, messages[try row.decode("lane")] ?? []) }
    }
}

/// The columns of `audiences` that messages change. Only this file lists them; other files name single columns in their
/// SQL. `AudienceColumns` has the columns of the declaration.
///
/// The settlement of a message changes nothing in this row if no other message waits. So a channel's lane is leased only
/// while one of its messages is under way, whatever `leased_until` says. During the lease the lane has no due time. When
/// the lease ends, the message that is under way leads to the lane (`Outbox.reclaim`).
extension LaneRows {
    private typealias Column = Columns<(lane: Lane, now: Date)>.Column

    static let columns = Columns<(lane: Lane, now: Date)>(
        "audiences", key: "lane",
        [
            .init("channel") { $0.lane.channel?.id },
            // Without a waiting message no rank is needed, and each change of the rank would also change an index.
            .init("rank", sql: "coalesce(r.rank, t.rank)", alwaysSet: true) {
                $0.lane.pending.isEmpty ? nil : $0.lane.rank(at: $0.now).rawValue
            },
            .init("fenced_at") { $0.lane.fencedAt },
            .init("closed_at") { $0.lane.closedAt },
            .init("newest_broadcast") { $0.lane.newest },
            .init("state_broadcast") { $0.lane.lastState },
            .init("stored_until") { $0.lane.storedUntil },
        ] + kindColumns(.channel) + kindColumns(.tokens))

    /// What each kind of messages has of its own (`Lane.Schedule`).
    private static func kindColumns(_ kind: Contract.DeliveryKind) -> [Column] {
        let (prefix, isChannels) = (prefix(kind), kind == .channel)
        return [
            .init(prefix + "due_at", alwaysSet: true) { dueAt(kind, $0.lane, at: $0.now) },
            .init(prefix + "leased_by", alwaysSet: isChannels) { $0.lane[kind].lease?.replica },
            .init(prefix + "leased_until", alwaysSet: isChannels) { $0.lane[kind].lease?.until },
            .init(prefix + "last_timestamp") { $0.lane[kind].lastTimestamp },
            .init(prefix + "ready_at") { $0.lane[kind].readyAt },
        ]
    }

    private static func prefix(_ kind: Contract.DeliveryKind) -> String { kind == .channel ? "" : "tokens_" }

    /// When a dispatcher must claim the lane.
    private static func dueAt(_ kind: Contract.DeliveryKind, _ lane: Lane, at now: Date) -> Date? {
        kind == .channel && lane[kind].lease != nil ? nil : lane.dueTime(kind, at: now)
    }

    /// Whether the row needs no update. The end of a channel's lease need not be written.
    static func isSame(_ lane: Lane, _ before: Lane, at now: Date) -> Bool {
        let (lease, tokens) = (lane[.channel].lease, before[.tokens])
        return dueAt(.channel, lane, at: now) == before[.channel].storedDue
            && (dueAt(.tokens, lane, at: now) == tokens.storedDue || lane[.tokens].lease != nil)
            && (lease == nil || lease == before[.channel].lease) && columns.isSame((lane, now), (before, now))
    }

    /// The statement that reads lanes, in order of their IDs; `lane(_:_:)` reads its rows.
    ///
    /// - Parameters:
    ///   - ids: an expression of `bigint[]`.
    ///   - more: further columns of rows `l`, each after a comma.
    static func select(_ ids: PostgresQuery, _ more: PostgresQuery = "") -> PostgresQuery {
        """
        select l.lane, \(AudienceColumns.names(of: "l")), \(columns.names(of: "l")), c.channel_id,
            coalesce(c.state in \(Channel.State.sql(.takesMessages)), false) as takes_messages\(more)
        from audiences l left join channels c on c.id = l.channel
        where l.lane = any(\(ids)) order by l.lane
        """
    }

    /// - Parameter messages: messages of the lane, with at least all that are not settled.
    static func lane(_ row: PostgresRow, _ messages: [LaneMessage]) throws -> Lane {
        var lane = Lane(
            id: try row.decode("lane"), audience: try AudienceColumns.audience(row),
            channel: try row.decode(UUID?.self, "channel").map {
                Lane.Channel(
                    id: $0, channelID: try row.decode("channel_id"), takesMessages: try row.decode("takes_messages"))
            })
        lane.messages = messages
        (lane.fencedAt, lane.closedAt) = (try row.decode("fenced_at"), try row.decode("closed_at"))
        (lane.newest, lane.lastState) = (try row.decode("newest_broadcast"), try row.decode("state_broadcast"))
        lane.storedUntil = try row.decode("stored_until")
        lane[.tokens] = try readSchedule(.tokens, row)
        lane[.channel] = try readSchedule(
            .channel, row, isLeased: messages.contains { $0.state == .sending && $0.kind == .channel })
        return lane
    }

    private static func readSchedule(
        _ kind: Contract.DeliveryKind, _ row: PostgresRow, isLeased: Bool = true
    ) throws -> Lane.Schedule {
        let prefix = prefix(kind)
        var schedule = Lane.Schedule()
        schedule.lastTimestamp = try row.decode(prefix + "last_timestamp")
        schedule.readyAt = try row.decode(prefix + "ready_at")
        if isLeased, let replica = try row.decode(UUID?.self, prefix + "leased_by"),
            let until = try row.decode(Date?.self, prefix + "leased_until")
        {
            schedule.lease = Lane.Lease(replica: replica, until: until)
        } else {
            schedule.storedDue = try row.decode(prefix + "due_at")
        }
        return schedule
    }
}

extension LaneRows {
    /// The statements that write lanes back after `Lane` has changed them: first the changed messages, then the changed
    /// lanes. Notes messages that got their final state since the lanes were loaded, including new messages.
    ///
    /// - Parameter loaded: the same lanes as they were, in the same order.
    static func write(_ lanes: [Lane], loaded: [Lane], at now: Date) -> [PostgresQuery] {
        var messages: [(lane: Lane, message: LaneMessage)] = []
        var messagesBefore = messages
        var rows: [(lane: Lane, now: Date)] = []
        var rowsBefore = rows
        var (ended, broadcasts): ([Occurrence], Set<UUID>) = ([], [])
        for (lane, before) in zip(lanes, loaded) {
            // `Lane` changes messages and appends new ones, but removes none. So the messages before and after have the
            // same indices.
            for (index, message) in lane.messages.enumerated() {
                let old = before.messages.dropFirst(index).first
                if message.state.isSettled, old?.state.isSettled != true {
                    ended.append(.settled(lane.audience.environment, message.state, reason: message.reason))
                    broadcasts.insert(message.broadcast)
                }
                guard let old,
                    message != old || DeliveryRow.leasedUntil(message, lane) != DeliveryRow.leasedUntil(old, before)
                else { continue }
                messages.append((lane, message))
                messagesBefore.append((before, old))
            }
            guard !isSame(lane, before, at: now) else { continue }
            rows.append((lane, now))
            rowsBefore.append((before, now))
        }
        WebhookNews.note(ended, broadcasts: broadcasts, at: now)
        guard !messages.isEmpty || !rows.isEmpty else { return [] }
        var statements = [Outbox.planning(rows: max(lanes.count, messages.count))]
        if !messages.isEmpty {
            statements.append(
                DeliveryRow.columns.update(messages, from: messagesBefore, ids: messages.compactMap(\.message.id)))
        }
        if !rows.isEmpty { statements.append(columns.update(rows, from: rowsBefore, ids: rows.map(\.lane.id))) }
        return statements
    }

    /// Locks lanes, changes them and writes them back, as a part of a larger transaction.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func change(
        _ ids: PostgresQuery, at now: Date, on connection: PostgresConnection, _ verb: (inout Lane) -> Void
    ) async throws {
        try await changeAll(ids, at: now, on: connection) { lanes in
            for index in lanes.indices { verb(&lanes[index]) }
        }
    }

    /// The same for all lanes together. It also recomputes the expirations of messages that wait, and stores until when
    /// devices need the channels that lanes lost.
    ///
    /// - Parameter broadcasts: as for `lockLoad`.
    static func changeAll<Result>(
        _ ids: PostgresQuery, undoing broadcasts: PostgresQuery? = nil, at now: Date,
        on connection: PostgresConnection, _ verb: (inout [Lane]) async throws -> Result
    ) async throws -> Result {
        let loaded = try await lockLoad(ids, undoing: broadcasts, on: connection)
        var lanes = loaded
        let result = try await verb(&lanes)
        try await updateExpirations(&lanes, on: connection)
        try await connection.pipeline(write(lanes, loaded: loaded, at: now) + writeNeededUntil(lanes, loaded: loaded))
        return result
    }

    /// Recomputes the expirations of messages that wait on lanes with recipients (`Lane.updateExpirations`).
    private static func updateExpirations(_ lanes: inout [Lane], on connection: PostgresConnection) async throws {
        let served = lanes.indices.filter { lanes[$0].channel != nil || !lanes[$0].queue(.tokens).isEmpty }
        let broadcasts = served.flatMap { lanes[$0].pending.map(\.broadcast) }
        guard !broadcasts.isEmpty else { return }
        let rows = try await connection.query(
            "select id, apns_expiration from broadcasts where id = any(\(broadcasts)) and apns_expiration is not null")
        var headers: [UUID: Int] = [:]
        for row in rows { headers[try row.decode("id")] = try row.decode("apns_expiration") }
        for index in served { lanes[index].updateExpirations(headers) }
    }

    /// Stores until when devices need the channels that lanes lost (`channels.needed_until`).
    private static func writeNeededUntil(_ lanes: [Lane], loaded: [Lane]) -> [PostgresQuery] {
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
        try await database.transaction { connection in
            let loaded = try await loadSkipLocked(ids, on: connection).lanes.filter {
                $0[kind].lease?.replica == replica
            }
            var lanes = loaded
            for index in lanes.indices { lanes[index].extendLease(kind, by: replica, until: leasedUntil) }
            try await connection.pipeline(write(lanes, loaded: loaded, at: leasedUntil))
        }
    }
}
