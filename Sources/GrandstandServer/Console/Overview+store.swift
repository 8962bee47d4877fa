internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Current activity, in numbers for the console's overview.
struct PostgresOverview: Sendable {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// The highest count. Nobody needs an exact number beyond it.
    private static let counted = 100_000

    /// Messages accepted within a minute before `now`.
    func messages(within reach: AppReach, now: Date) async throws -> Int {
        let rows = try await database.query(
            """
            select count(*) as n from (
                select from broadcasts b where b.accepted_at > \(now.addingTimeInterval(-60)) and not b.scheduled
                    and \(EventReach.covers(reach, broadcast: "b"))
                limit \(Self.counted)) m
            """)
        return try rows.first?.decode("n") ?? 0
    }

    /// When the oldest unsettled message was accepted, among the lanes that are due or have a message under way; `nil`:
    /// there is no such message. The query reads only the lanes that have something to send.
    func oldestWaiting(within reach: AppReach, now: Date) async throws -> Date? {
        let rows = try await database.query(
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
        return try rows.first?.decode("at")
    }
}
