internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension EventStore {
    /// Reopens an event that was closed automatically, and writes its new declaration. The event's row must be locked.
    /// Retiring channels serve the event again. If an audience has no channel any more, the next alignment creates one.
    /// An audience that got its own `end` stays closed.
    ///
    /// - Throws: `event-ended` if the organiser ended or cancelled the event, or if the declared times are in the past.
    static func reopen(
        _ specification: EventSpecification, by actor: AuditActor, now: Date, on connection: PostgresConnection
    ) async throws {
        let key = specification.key
        let expired = try await connection.query(
            """
            select ended_at from events
            where key = \(key.rawValue) and expired_at is not null and cancelled_at is null
            """)
        guard !expired.isEmpty else {
            throw Problem(
                .eventEnded,
                "The event \(key) is over and cannot be changed. To continue it, POST /v1/events/\(key)/reopen; for "
                    + "another event, use a new event key.")
        }
        guard specification.reaches(beyond: now) else {
            throw Problem(
                .eventEnded,
                "The event \(key) was closed because neither an end nor anything else was sent for it. To continue "
                    + "it, declare it with an endsAt in the future.")
        }
        WebhookNews.note(events: [key.rawValue], at: now)
        // Wait for a running alignment. If it still saw the event as over, it would retire the event's channels after
        // the event is open again.
        try await connection.query(ChannelStore.lockAlignment)
        if let endedAt: Date = try expired.first?.decode("ended_at") {
            let lanes: PostgresQuery = "(array(select lane from audiences where event_key = \(key.rawValue)))"
            try await LaneRows.change(lanes, at: now, on: connection) { $0.reopen(closedAt: endedAt) }
        }
        try await connection.pipeline([
            keepChannels(
                of: "(array(select lane from audiences where event_key = \(key.rawValue)))", now: now),
            declare(specification, now: now),
            AuditRows(by: actor, at: now).insert(
                .eventChanged, .init(eventKey: key), reason: "it had been closed without an end; it lives again"),
        ])
    }

    /// Makes retiring channels of these lanes active again.
    ///
    /// - Parameter lanes: an expression of `bigint[]`.
    static func keepChannels(of lanes: PostgresQuery, now: Date) -> PostgresQuery {
        ChannelStore.move(
            "c.id = any(array(select channel from lanes where id = any(\(lanes))))", from: [.retiring], to: .active,
            also: ", attempts = 0, retire_at = null", at: now)
    }
}
