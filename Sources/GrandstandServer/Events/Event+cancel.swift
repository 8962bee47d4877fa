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
        try await change(key, within: reach, by: actor, now: now) { change in
            let event = try await change.lock()
            try condition.check(event.version)
            if !event.isOver {
                try await change.cancel(sendingEnd: sendsEnd)
            } else if sendsEnd {
                try await change.requireEndsSent()
            }
        }
    }
}

extension EventChange {
    fileprivate func cancel(sendingEnd sendsEnd: Bool) async throws {
        let rows = try await connection.query("select lane, bundle_id from audiences where event_key = \(key.rawValue)")
        let lanes: [Int] = try rows.map { try $0.decode("lane") }
        if sendsEnd {
            try await sendEnd(to: lanes)
        } else {
            try await LaneRows.change("\(lanes)", at: now, on: connection) { $0.close(at: now) }
        }
        let scheduled = try await connection.query(
            """
            update broadcasts set scheduled = false, cancelled = true
            where event_key = \(key.rawValue) and scheduled returning id
            """)
        WebhookNews.note(broadcasts: try scheduled.map { try $0.decode("id") }, events: [key.rawValue], at: now)
        try await connection.pipeline([
            // Sending the ends may have set `ended_at`. It is cleared, because the event counts as cancelled.
            """
            update events set cancelled_at = \(now), ended_at = null, updated_at = \(now) where key = \(key.rawValue)
            """,
            audit.insert(
                .eventCancelled, .init(eventKey: key),
                of: Set(try rows.map { try $0.word("bundle_id", as: BundleID.self) })),
            WakeUps.notify([.channels]),
        ])
    }

    /// Checks an event that is already over, whose lanes accept no `end`. A lane that got none was fenced when it was
    /// closed, or when the event expired.
    ///
    /// - Throws: `event-ended` if activities that got no end can be reached.
    fileprivate func requireEndsSent() async throws {
        let rows = try await connection.query(
            """
            select from audiences a join events e on e.key = a.event_key
            where e.key = \(key.rawValue) and a.fenced_at = coalesce(a.closed_at, e.expired_at)
                and (a.channel is not null or \(CrowdRows.hasTokens("a.lane")))
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
    private func sendEnd(to lanes: [Int]) async throws {
        var isReached = false
        try await LaneRows.change("\(lanes)", at: now, on: connection) { lane in
            if lane.makeWayForEnd(at: now) { isReached = true }
        }
        let tokens = try await connection.query("select from crowds where event_key = \(key.rawValue) limit 1")
        if isReached || !tokens.isEmpty { _ = try await accept(.init(event: .end)).get() }
        try await LaneRows.change("\(lanes)", at: now, on: connection) { lane in
            if lane.channel == nil { lane.giveUpChannel(at: now) }
        }
    }
}
