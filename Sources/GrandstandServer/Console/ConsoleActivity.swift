internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The present activity, restricted to the apps of a key.
struct ConsoleActivity: Sendable {
    /// Messages accepted within the last minute.
    var messages: Int
    /// When the oldest unsettled message was accepted, among the lanes that are due or have a message under way; `nil`:
    /// there is no such message.
    var oldestWaiting: Date?
    /// How this replica reached APNs recently.
    var apple: [Figure]

    /// The highest count. Nobody needs an exact number beyond it.
    private static let counted = 100_000

    init(messages: Int, oldestWaiting: Date?, apple: [Figure]) {
        self.messages = messages
        self.oldestWaiting = oldestWaiting
        self.apple = apple
    }

    /// Reads the numbers. The second query reads only the lanes that have something to send.
    init(_ database: Database, apple: [Figure], within reach: AppReach, now: Date) async throws {
        let accepted = try await database.query(
            """
            select count(*) as n from (
                select from broadcasts b where b.accepted_at > \(now.addingTimeInterval(-60)) and not b.scheduled
                    and \(EventReach.covers(reach, broadcast: "b"))
                limit \(Self.counted)) m
            """)
        let waiting = try await database.query(
            """
            select min(m.accepted_at) as at from (
                select id from lanes where due_at is not null
                union select lane from deliveries where state = 'sending' and leased_until is not null) w
            cross join lateral (select * from lanes where id = w.id and kind = 'channel' offset 0) l
            cross join lateral (
                select (select b.accepted_at from broadcasts b where b.id = d.broadcast_id) as accepted_at
                from deliveries d where d.lane = l.id and d.settled_at is null order by d.id limit 1) m
            where \(EventReach.covers(reach, lane: "l"))
            """)
        self.init(
            messages: try accepted.first?.decode("n") ?? 0, oldestWaiting: try waiting.first?.decode("at"),
            apple: apple)
    }
}
