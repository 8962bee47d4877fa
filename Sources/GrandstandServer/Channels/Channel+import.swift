internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension ChannelStore {
    /// Takes over a channel that already exists at Apple.
    ///
    /// - Parameters:
    ///   - policy: the channel's policy, as Apple's `answer` says.
    ///   - reach: the caller's reach. It limits the events that the channel may serve.
    /// - Throws: `app-not-found`; `channel-exists` if the ledger already has the channel, or the event has another
    ///   channel for this audience; `event-not-found`, `event-ended`; `invalid-request` if the event has no such
    ///   audience.
    func `import`(
        _ wanted: Contract.ChannelImport, _ policy: StoragePolicy, into app: AppEnvironment, within reach: AppReach,
        answer: Contract.AuditAnswer, by actor: AuditActor, now: Date
    ) async throws -> Channel {
        let eventKey = try wanted.eventKey.map { text throws(Problem) in try EventKey(allowed: text) }
        let variant = try wanted.variant.map { text throws(Problem) in try Variant(allowed: text) }
        return try await database.transaction { connection in
            let app = try Self.address(try await Self.lock(app, on: connection)).app
            try await Self.refuseKnown(wanted.channelId, of: app, on: connection)
            if let eventKey {
                let audience = Audience.ID(bundleID: app.bundleID, environment: app.environment, variant: variant)
                try await Self.prepare(eventKey, policy, for: audience, within: reach, now: now, on: connection)
            }
            let rows = Self.rows(
                [(wanted.channelId, policy)], of: app, variant: variant, eventKey: eventKey, label: wanted.label)
            let audit = AuditRows(by: actor, at: now, answer: answer)
            let taken = try await connection.query(
                Self.logging(.channelImported, audit, reason: "null", Self.add(rows, as: .active, at: now)))
            guard let channel = try taken.first.map(Self.channel) else {
                throw Problem(.channelExists, "Somebody else took this channel over at the same time.", retryAfter: 1)
            }
            WebhookNews.note(channels: [channel.id], at: now)
            try await Self.connectLanes(to: channel, now: now, on: connection)
            try await connection.pipeline([
                Self.forgetting(unmanaged: [wanted.channelId], of: app), WakeUps.wake([.channels]),
            ])
            try await IdempotencyMark.current?.note(channel.id, on: connection)
            return channel
        }
    }

    private static func refuseKnown(
        _ channelID: String, of app: AppEnvironment, on connection: PostgresConnection
    ) async throws {
        let rows = try await connection.query(
            """
            select \(columns) from channels c
            where \(AppColumns.isOf(app, row: "c")) and c.channel_id = \(channelID)
            """)
        guard let known = try rows.first.map(channel) else { return }
        throw Problem(
            .channelExists, "This channel is managed already: \(known.id.words), \(known.state.rawValue).",
            members: [.id(known.id), .state(known.state)])
    }

    /// Checks that the event has this audience, and that the audience has no channel. An intent that was not sent to
    /// Apple yet is replaced.
    private static func prepare(
        _ eventKey: EventKey, _ policy: StoragePolicy, for audience: Audience.ID, within reach: AppReach, now: Date,
        on connection: PostgresConnection
    ) async throws {
        let events = try await connection.query(
            """
            select e.ended_at is not null or e.cancelled_at is not null as is_over,
                case when \(AudienceColumns.wantsChannel("u")) then u.storage_policy end as storage_policy
            from events e left join audiences u on u.event_key = e.key and \(AudienceColumns.isSame("u", audience))
            where e.key = \(eventKey.rawValue) for no key update of e
            """)
        guard let event = events.first else { throw Problem.noEvent(eventKey) }
        try await EventReach.require(reach, event: eventKey, on: connection)
        guard try !event.decode(Bool.self, "is_over") else {
            throw Problem(.eventEnded, "The event \(eventKey) is over and needs no channel.")
        }
        guard try event.optionalWord("storage_policy", as: StoragePolicy.self) == policy else {
            throw Problem(
                .invalidRequest, "The event \(eventKey) has no audience this channel can serve.",
                errors: [
                    FieldError(
                        pointer: "/eventKey",
                        detail: "The channel is \(policy.rawValue); the event needs an audience "
                            + "of \(audience.bundleID) in \(audience.environment.rawValue) "
                            + (audience.variant.map { "in variant \($0) " } ?? "without a variant ")
                            + "with that policy that is reached by a channel.")
                ])
        }
        let isItsOwn: PostgresQuery =
            "c.event_key = \(eventKey.rawValue) and \(AudienceColumns.isSame("c", audience))"
        let reason: PostgresQuery = "'an imported channel took its place'"
        try await connection.pipeline([
            drop(isItsOwn, reason: reason, at: now),
            move(isItsOwn, from: [.missing], to: .deleted, reason: reason, at: now),
        ])
        let others = try await connection.query(
            """
            select \(columns) from channels c
            where \(isItsOwn) and c.state in \(Channel.State.sql(.servesAudience))
            """)
        guard let other = try others.first.map(channel) else { return }
        throw Problem(
            .channelExists,
            "The event \(eventKey) has a channel for this audience: \(other.id.words), "
                + "\(other.state.rawValue). Import without eventKey, or set the event's channelsOpenAt to later "
                + "and delete that one first.")
    }
}
