internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Rows of the table `lanes`. Only this file lists the columns that messages change; other files name single columns
/// in their SQL. `AudienceColumns` has the columns of the lane's audience.
///
/// The settlement of a message changes nothing in this row if no other message waits. So a channel's lane is leased only
/// while one of its messages is under way, whatever `leased_until` says. During the lease the lane has no due time. When
/// the lease ends, the message that is under way leads to the lane (`Outbox.adopt`).
extension LaneRows {
    static let columns = Columns<(lane: Lane, now: Date)>(
        "lanes",
        [
            .init("channel") { $0.lane.channel?.id },
            .init("due_at", isAlways: true) { due($0.lane, at: $0.now) },
            .init("tokens_due_at", isAlways: true) { $0.lane.due(.tokens, at: $0.now) },
            // Without a waiting message no rank is needed, and each change of the rank would also change an index.
            .init("rank", sql: "coalesce(r.rank, l.rank)", isAlways: true) {
                $0.lane.pending.isEmpty ? nil : $0.lane.rank(at: $0.now).rawValue
            },
            .init("leased_by", isAlways: true) { $0.lane.lease?.replica },
            .init("leased_until", isAlways: true) { $0.lane.lease?.until },
            .init("last_timestamp") { $0.lane.lastTimestamp },
            .init("ready_at") { $0.lane.readyAt },
            .init("fenced_at") { $0.lane.fencedAt },
            .init("closed_at") { $0.lane.closedAt },
            .init("newest_broadcast") { $0.lane.newest },
            .init("state_broadcast") { $0.lane.told },
            .init("stored_until") { $0.lane.storedUntil },
            .init("tokens_ready_at") { $0.lane.tokens.readyAt },
            .init("tokens_timestamp") { $0.lane.tokens.lastTimestamp },
            .init("tokens_leased_by") { $0.lane.tokens.lease?.replica },
            .init("tokens_leased_until") { $0.lane.tokens.lease?.until },
        ])

    /// When a dispatcher must claim the lane for its channel.
    private static func due(_ lane: Lane, at now: Date) -> Date? { lane.lease == nil ? lane.due(at: now) : nil }

    /// Whether the row needs no update. The end of a lease need not be written.
    static func isSame(_ lane: Lane, _ before: Lane, at now: Date) -> Bool {
        due(lane, at: now) == before.waitsSince
            && (lane.due(.tokens, at: now) == before.tokens.waitsSince || lane.tokens.lease != nil)
            && (lane.lease == nil || lane.lease == before.lease) && columns.isSame((lane, now), (before, now))
    }

    /// The statement that reads lanes, in order of their IDs; `lane(_:_:)` reads its rows.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func read(_ ids: PostgresQuery) -> PostgresQuery {
        """
        select l.id as lane, \(AudienceColumns.ofLane(of: "l")), \(columns.names(of: "l")), c.channel_id,
            coalesce(c.state in \(Channel.State.sql(.takesMessages)), false) as takes_messages
        from lanes l left join channels c on c.id = l.channel
        where l.id = any(\(ids)) order by l.id
        """
    }

    /// - Parameter messages: messages of the lane, with at least all that are not settled.
    static func lane(_ row: PostgresRow, _ messages: [LaneMessage]) throws -> Lane {
        let isLeased = messages.contains { $0.state == .sending && $0.kind == .channel }
        let lease = isLeased ? try Self.lease(row, "") : nil
        return Lane(
            id: try row.decode("lane"), audience: try AudienceColumns.audienceOfLane(row),
            channel: try row.decode(UUID?.self, "channel").map {
                Lane.Channel(
                    id: $0, channelID: try row.decode("channel_id"), takesMessages: try row.decode("takes_messages"))
            },
            lease: lease, messages: messages, lastTimestamp: try row.decode("last_timestamp"),
            readyAt: try row.decode("ready_at"), fencedAt: try row.decode("fenced_at"),
            closedAt: try row.decode("closed_at"), newest: try row.decode("newest_broadcast"),
            told: try row.decode("state_broadcast"), storedUntil: try row.decode("stored_until"),
            waitsSince: lease == nil ? try row.decode("due_at") : nil,
            tokens: try tokens(row))
    }

    private static func tokens(_ row: PostgresRow) throws -> Lane.Turn {
        let lease = try Self.lease(row, "tokens_")
        return Lane.Turn(
            lease: lease, lastTimestamp: try row.decode("tokens_timestamp"), readyAt: try row.decode("tokens_ready_at"),
            waitsSince: lease == nil ? try row.decode("tokens_due_at") : nil)
    }

    private static func lease(_ row: PostgresRow, _ prefix: String) throws -> Lane.Lease? {
        guard let replica = try row.decode(UUID?.self, prefix + "leased_by"),
            let until = try row.decode(Date?.self, prefix + "leased_until")
        else { return nil }
        return Lane.Lease(replica: replica, until: until)
    }
}
