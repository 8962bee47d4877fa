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
            let audience = Audience.ID(bundleID: app.bundleID, environment: app.environment, variant: variant)
            if let eventKey {
                try await Self.prepare(eventKey, policy, for: audience, within: reach, now: now, on: connection)
            }
            let rows = Self.rows(
                [(wanted.channelId, policy)], of: app, variant: variant, eventKey: eventKey, label: wanted.label)
            let taken = try await Self.make(
                Self.add(rows, as: .active, at: now), (.channelImported, "null"),
                AuditRows(by: actor, at: now, answer: answer), on: connection)
            guard let channel = taken.first else {
                throw try await Self.conflict(wanted, eventKey, audience, on: connection)
            }
            try await connection.pipeline([
                Self.forgetting(unmanaged: [wanted.channelId], of: app), WakeUps.wake([.channels]),
            ])
            try await IdempotencyMark.current?.note(channel.id, on: connection)
            return channel
        }
    }

    /// Why the channel could not be added: the ledger has it, or the event's audience has another channel.
    private static func conflict(
        _ wanted: Contract.ChannelImport, _ eventKey: EventKey?, _ audience: Audience.ID,
        on connection: PostgresConnection
    ) async throws -> Problem {
        let rows = try await connection.query(
            """
            select \(columns) from channels c where c.bundle_id = \(audience.bundleID.rawValue)
                and c.environment = \(audience.environment.rawValue)::environment and (c.channel_id = \(wanted.channelId)
                or c.event_key = \(eventKey?.rawValue) and \(AudienceColumns.isSame("c", audience))
                and c.state in \(Channel.State.sql(.servesAudience)))
            order by c.channel_id = \(wanted.channelId) desc nulls last limit 1
            """)
        guard let other = try rows.first?.read(Channel.self) else {
            return Problem(.channelExists, "Somebody else took this channel over at the same time.", retryAfter: 1)
        }
        guard other.channelID != wanted.channelId, let eventKey else {
            return Problem(
                .channelExists, "This channel is managed already: \(other.id.words), \(other.state.rawValue)."
            ) { ($0.id, $0.state) = (other.id.words, other.state) }
        }
        return Problem(
            .channelExists,
            "The event \(eventKey) has a channel for this audience: \(other.id.words), "
                + "\(other.state.rawValue). Import without eventKey, or set the event's channelsOpenAt to later "
                + "and delete that one first.")
    }

    /// Checks that the event has this audience. An intent that was not sent to Apple yet is replaced.
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
        try await connection.query(
            move(
                "c.called_at is null and \(isItsOwn)", from: [.creating, .failed, .missing], to: .deleted,
                reason: "'an imported channel took its place'", at: now))
    }
}
