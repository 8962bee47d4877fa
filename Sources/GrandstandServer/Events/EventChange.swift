internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// A change of an event in one transaction.
struct EventChange: Sendable {
    let key: EventKey
    let reach: AppReach
    let actor: AuditActor
    let now: Date
    let connection: PostgresConnection

    var audit: AuditRows { AuditRows(by: actor, at: now) }

    /// The event's row, locked until the commit.
    struct Locked: Decodable {
        let version: Int
        let startsAt, endsAt: Date?
        /// The time that its start has itself.
        let startAt: Date?
        let isOver: Bool
        /// When the server closed the event on its own.
        let expiredAt: Date?
    }

    /// Locks the row of an event.
    static func lockRow(_ key: EventKey, on connection: PostgresConnection) async throws -> Locked? {
        try await connection.query(
            """
            select version, starts_at as "startsAt", ends_at as "endsAt",
                (select at from event_starts where event_key = key) as "startAt", \(ChannelStore.isOver) as "isOver",
                case when cancelled_at is null then expired_at end as "expiredAt"
            from events e where key = \(key.rawValue) for no key update
            """
        ).read(Locked.self).first
    }

    /// Locks the row of an event that is within reach.
    ///
    /// - Throws: `event-not-found`, also for an event out of reach.
    static func lock(
        _ key: EventKey, within reach: AppReach, on connection: PostgresConnection
    ) async throws -> Locked {
        guard let event = try await lockRow(key, on: connection),
            try await EventReach.reaches(reach, event: key, on: connection)
        else { throw Problem.noEvent(key) }
        return event
    }

    func lock() async throws -> Locked { try await Self.lock(key, within: reach, on: connection) }

    /// Accepts a broadcast of the event, which is locked.
    ///
    /// - Returns: its ID, or why it was refused.
    func accept(_ request: Contract.BroadcastDraft) async throws -> Result<UUID, Problem> {
        var acceptance = try await Outbox.lockLoad([.event(key)], comparing: true, on: connection, now: now)
        let intake = Intake(target: .event(key), request: request, actor: actor, at: now)
        let broadcast = Result { () throws(Problem) in try acceptance.accept(intake) }
        try await connection.pipeline(Outbox.statements(acceptance) + [WakeUps.notify(acceptance.topics)])
        return broadcast.map(\.uuid)
    }

    /// Makes retiring channels of these lanes active again.
    ///
    /// - Parameter lanes: an expression of `bigint[]`.
    func reviveChannels(of lanes: PostgresQuery) -> PostgresQuery {
        ChannelStore.move(
            "c.id = any(array(select channel from audiences where lane = any(\(lanes))))", from: [.retiring],
            to: .active, at: now)
    }
}

extension EventStore {
    /// Runs `body` in a transaction that changes an event.
    func change<Value: Sendable>(
        _ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date,
        _ body: @Sendable (EventChange) async throws -> Value
    ) async throws -> Value {
        try await database.transaction {
            try await body(EventChange(key: key, reach: reach, actor: actor, now: now.asStored, connection: $0))
        }
    }
}
