internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension EventStore {
    /// Cancels the event: nothing more is sent, and its channels retire. An event that is over is not changed.
    ///
    /// - Parameter sendsEnd: whether all activities that can be reached get a last `end` first. This `end` replaces
    ///   waiting messages.
    /// - Throws: `event-not-found`, `forbidden`, `version-mismatch`; `event-ended` if an end is requested for an event
    ///   that is over, and some activities that can be reached got no `end`.
    func cancel(
        _ key: EventKey, sendingEnd sendsEnd: Bool, within reach: AppReach, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws {
        let now = now.inMicroseconds
        try await database.transaction { connection in
            let event = try await Self.lock(key, within: reach, on: connection)
            try condition.check(event.version)
            guard !event.isOver else {
                if sendsEnd { try await Self.requireEnds(of: key, on: connection) }
                return
            }
            let rows = try await connection.query(
                "select lane, bundle_id from audiences where event_key = \(key.rawValue)")
            let lanes: [Int] = try rows.map { try $0.decode("lane") }
            if sendsEnd {
                try await Self.sendEnd(to: lanes, of: key, by: actor, now: now, on: connection)
            } else {
                try await Self.close(lanes, now: now, on: connection)
            }
            let scheduled = try await connection.query(
                """
                update broadcasts set scheduled = false, cancelled = true
                where event_key = \(key.rawValue) and scheduled returning id
                """)
            WebhookNews.note(
                broadcasts: try scheduled.map { try $0.decode("id") }, events: [key.rawValue], at: now)
            try await connection.pipeline([
                // Sending the ends may have set `ended_at`. It is cleared, because the event counts as cancelled.
                """
                update events set cancelled_at = \(now), ended_at = null, updated_at = \(now)
                where key = \(key.rawValue)
                """,
                AuditRows(by: actor, at: now).insert(
                    .eventCancelled, .init(eventKey: key),
                    of: Set(try rows.map { try $0.word("bundle_id", as: BundleID.self) })),
                WakeUps.wake([.channels]),
            ])
        }
    }

    /// Locks the row of an event.
    ///
    /// - Throws: `event-not-found`, also for an event out of reach.
    static func lock(
        _ key: EventKey, within reach: AppReach, on connection: PostgresConnection
    ) async throws -> (isOver: Bool, version: Int) {
        let rows = try await connection.query(
            """
            select ended_at is not null or cancelled_at is not null as is_over, version from events
            where key = \(key.rawValue) for no key update
            """)
        try await EventReach.require(reach, event: key, on: connection)
        guard let row = rows.first else { throw Problem.noEvent(key) }
        return (try row.decode("is_over"), try row.decode("version"))
    }

    /// Checks an event that is already over, whose lanes accept no `end`.
    ///
    /// - Throws: `event-ended` if activities that got no end can be reached.
    private static func requireEnds(of key: EventKey, on connection: PostgresConnection) async throws {
        let rows = try await connection.query(
            """
            select from audiences a
            where a.event_key = \(key.rawValue) and (a.channel is not null or \(CrowdRows.hasTokens("a.lane")))
                and not exists (
                    select from broadcasts b
                    cross join lateral (select lane, state from deliveries where broadcast_id = b.id offset 0) d
                    where b.event_key = \(key.rawValue) and b.event = 'end' and d.state <> 'cancelled'
                        and d.lane = a.lane)
            limit 1
            """)
        guard rows.isEmpty else {
            throw Problem(
                .eventEnded,
                "The event \(key) is over, so no end can be sent to the activities that did not get "
                    + "one. Reopen it with POST /v1/events/\(key)/reopen, then delete it with end=true.")
        }
    }

    /// Sends an `end` to all activities that can be reached, in place of the messages that wait for them. A channel
    /// that does not exist yet has no followers, and no channel is created for the `end`.
    private static func sendEnd(
        to lanes: [Int], of key: EventKey, by actor: AuditActor, now: Date, on connection: PostgresConnection
    ) async throws {
        let reached: Set<Int> = Set(
            try await connection.query("select lane from crowds where event_key = \(key.rawValue)").map {
                try $0.decode("lane")
            })
        var isAwaited = false
        try await LaneRows.change("\(lanes)", at: now, on: connection) { lane in
            if lane.makeWayForEnd(hasTokens: reached.contains(lane.id), at: now) { isAwaited = true }
        }
        if isAwaited {
            try await accept(
                [BroadcastRequest(payload: BroadcastPayload(event: .end))], for: key, by: actor, now: now,
                on: connection)
        }
        try await LaneRows.change("\(lanes)", at: now, on: connection) { lane in
            if lane.channel == nil { lane.giveUpChannel(at: now) }
        }
    }

    /// Accepts broadcasts of an event in a transaction that has locked it.
    ///
    /// - Returns: for each request its broadcast, or why it was refused.
    @discardableResult
    static func accept(
        _ requests: [BroadcastRequest], for key: EventKey, by actor: AuditActor, now: Date,
        on connection: PostgresConnection
    ) async throws -> [Result<Contract.Broadcast, Problem>] {
        var acceptance = try await Outbox.lock([.event(key)], on: connection, now: now)
        let results = requests.map { request in
            Result { () throws(Problem) in
                try acceptance.add(Intake(.event(key), request, by: actor, at: now))
            }
        }
        let statements = Outbox.statements(acceptance)
        guard !statements.isEmpty else { return results }
        try await connection.pipeline(statements + [WakeUps.wake(acceptance.topics)])
        return results
    }
}
