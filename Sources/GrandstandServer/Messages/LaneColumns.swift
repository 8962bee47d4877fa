internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// A row of the table `lanes`. Only this file lists the columns that messages change; other files name single columns
/// in their SQL. `AudienceColumns` has the columns of the lane's audience.
///
/// The settlement of a message changes nothing in this row if no other message waits. So a channel's lane is leased only
/// while one of its messages is under way, whatever `leased_until` says. During the lease the lane has no due time. When
/// the lease ends, the message that is under way leads to the lane (`Outbox.adopt`).
struct LaneRow {
    let lane: Lane
    /// When a dispatcher must claim the lane.
    private let due: Date?
    /// `nil`: the rank in the table does not change. Without a waiting message no rank is needed, and each change of
    /// the rank would also change an index.
    private let rank: Int?

    init(_ lane: Lane, at now: Date) {
        self.lane = lane
        due = lane.lease == nil || lane.kind.isCrowd ? lane.due(at: now) : nil
        rank = lane.head == nil ? nil : lane.rank(at: now).rawValue
    }

    init(loaded lane: Lane) {
        self.lane = lane
        due = lane.waitsSince
        rank = nil
    }

    static let columns = Columns<LaneRow>(
        "lanes",
        [
            .init("channel") { $0.lane.channel?.id },
            .init("due_at", isAlways: true) { $0.lane.kind.isCrowd ? nil : $0.due },
            .init("shard_due_at", isAlways: true) { $0.lane.kind.isCrowd ? $0.due : nil },
            .init("rank", sql: "coalesce(r.rank, l.rank)", isAlways: true) { $0.rank },
            .init("leased_by", isAlways: true) { $0.lane.lease?.replica },
            .init("leased_until", isAlways: true) { $0.lane.lease?.until },
            .init("last_timestamp") { $0.lane.lastTimestamp },
            .init("ready_at") { $0.lane.readyAt },
            .init("fenced_at") { $0.lane.fencedAt },
            .init("closed_at") { $0.lane.closedAt },
            .init("newest_broadcast") { $0.lane.newest },
            .init("state_broadcast") { $0.lane.told },
            .init("stored_until") { $0.lane.storedUntil },
        ])

    /// Whether the row needs no update. The end of a lease need not be written.
    func isSame(_ before: LaneRow) -> Bool {
        !lane.kind.isCrowd && due == before.due && (lane.lease == nil || lane.lease == before.lane.lease)
            && Self.columns.isSame(self, before)
    }

    /// The statement that reads lanes, in order of their IDs; `lane(_:_:)` reads its rows.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func read(_ ids: PostgresQuery) -> PostgresQuery {
        """
        select l.id as lane, l.kind, \(AudienceColumns.ofLane(of: "l")), \(columns.names(of: "l")), c.channel_id,
            coalesce(c.state in \(Channel.State.sql(.takesMessages)), false) as takes_messages
        from lanes l left join channels c on c.id = l.channel
        where l.id = any(\(ids)) order by l.id
        """
    }

    /// - Parameter messages: messages of the lane, with at least all that are not settled.
    static func lane(_ row: PostgresRow, _ messages: [LaneMessage]) throws -> Lane {
        let kind: Lane.Kind = try row.word("kind")
        let isLeased = kind.isCrowd || messages.contains { $0.state == .sending }
        let replica: UUID? = isLeased ? try row.decode("leased_by") : nil
        let until: Date? = isLeased ? try row.decode("leased_until") : nil
        let lease = replica.flatMap { replica in until.map { Lane.Lease(replica: replica, until: $0) } }
        return Lane(
            id: try row.decode("lane"), kind: kind,
            audience: try AudienceColumns.audienceOfLane(row),
            channel: try row.decode(UUID?.self, "channel").map {
                Lane.Channel(
                    id: $0, channelID: try row.decode("channel_id"), takesMessages: try row.decode("takes_messages"))
            },
            lease: lease, messages: messages, lastTimestamp: try row.decode("last_timestamp"),
            readyAt: try row.decode("ready_at"), fencedAt: try row.decode("fenced_at"),
            closedAt: try row.decode("closed_at"), newest: try row.decode("newest_broadcast"),
            told: try row.decode("state_broadcast"), storedUntil: try row.decode("stored_until"),
            waitsSince: lease == nil ? try row.decode("due_at") : nil)
    }
}
