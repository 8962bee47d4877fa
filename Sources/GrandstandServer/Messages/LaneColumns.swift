internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The columns of `audiences` that messages change. Only this file lists them; other files name single columns in their
/// SQL. `AudienceColumns` has the columns of the declaration.
///
/// The settlement of a message changes nothing in this row if no other message waits. So a channel's lane is leased only
/// while one of its messages is under way, whatever `leased_until` says. During the lease the lane has no due time. When
/// the lease ends, the message that is under way leads to the lane (`Outbox.adopt`).
extension LaneRows {
    private typealias Column = Columns<(lane: Lane, now: Date)>.Column

    static let columns = Columns<(lane: Lane, now: Date)>(
        "audiences", key: "lane",
        [
            .init("channel") { $0.lane.channel?.id },
            // Without a waiting message no rank is needed, and each change of the rank would also change an index.
            .init("rank", sql: "coalesce(r.rank, a.rank)", isAlways: true) {
                $0.lane.pending.isEmpty ? nil : $0.lane.rank(at: $0.now).rawValue
            },
            .init("fenced_at") { $0.lane.fencedAt },
            .init("closed_at") { $0.lane.closedAt },
            .init("newest_broadcast") { $0.lane.newest },
            .init("state_broadcast") { $0.lane.told },
            .init("stored_until") { $0.lane.storedUntil },
        ] + turn(.channel) + turn(.tokens))

    /// What each kind of messages has of its own (`Lane.Turn`).
    private static func turn(_ kind: Contract.DeliveryKind) -> [Column] {
        let (prefix, isChannels) = (prefix(kind), kind == .channel)
        return [
            .init(prefix + "due_at", isAlways: true) { due(kind, $0.lane, at: $0.now) },
            .init(prefix + "leased_by", isAlways: isChannels) { $0.lane[kind].lease?.replica },
            .init(prefix + "leased_until", isAlways: isChannels) { $0.lane[kind].lease?.until },
            .init(prefix + "last_timestamp") { $0.lane[kind].lastTimestamp },
            .init(prefix + "ready_at") { $0.lane[kind].readyAt },
        ]
    }

    private static func prefix(_ kind: Contract.DeliveryKind) -> String { kind == .channel ? "" : "tokens_" }

    /// When a dispatcher must claim the lane.
    private static func due(_ kind: Contract.DeliveryKind, _ lane: Lane, at now: Date) -> Date? {
        kind == .channel && lane[kind].lease != nil ? nil : lane.due(kind, at: now)
    }

    /// Whether the row needs no update. The end of a channel's lease need not be written.
    static func isSame(_ lane: Lane, _ before: Lane, at now: Date) -> Bool {
        let (lease, tokens) = (lane[.channel].lease, before[.tokens])
        return due(.channel, lane, at: now) == before[.channel].waitsSince
            && (due(.tokens, lane, at: now) == tokens.waitsSince || lane[.tokens].lease != nil)
            && (lease == nil || lease == before[.channel].lease) && columns.isSame((lane, now), (before, now))
    }

    /// The statement that reads lanes, in order of their IDs; `lane(_:_:)` reads its rows.
    ///
    /// - Parameters:
    ///   - ids: an expression of `bigint[]`.
    ///   - more: further columns of rows `l`, each after a comma.
    static func read(_ ids: PostgresQuery, _ more: PostgresQuery = "") -> PostgresQuery {
        """
        select l.lane, \(AudienceColumns.all(of: "l")), \(columns.names(of: "l")), c.channel_id,
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
        (lane.newest, lane.told) = (try row.decode("newest_broadcast"), try row.decode("state_broadcast"))
        lane.storedUntil = try row.decode("stored_until")
        lane[.tokens] = try turn(.tokens, row)
        lane[.channel] = try turn(
            .channel, row, isLeased: messages.contains { $0.state == .sending && $0.kind == .channel })
        return lane
    }

    private static func turn(
        _ kind: Contract.DeliveryKind, _ row: PostgresRow, isLeased: Bool = true
    ) throws -> Lane.Turn {
        let prefix = prefix(kind)
        var turn = Lane.Turn()
        turn.lastTimestamp = try row.decode(prefix + "last_timestamp")
        turn.readyAt = try row.decode(prefix + "ready_at")
        if isLeased, let replica = try row.decode(UUID?.self, prefix + "leased_by"),
            let until = try row.decode(Date?.self, prefix + "leased_until")
        {
            turn.lease = Lane.Lease(replica: replica, until: until)
        } else {
            turn.waitsSince = try row.decode(prefix + "due_at")
        }
        return turn
    }
}
