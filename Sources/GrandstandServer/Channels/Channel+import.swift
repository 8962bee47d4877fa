internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// A channel that another tool created, as the caller wants it and as Apple described it.
struct ChannelImport: Sendable {
    let bundleID: BundleID
    let environment: APNsEnvironment
    /// Apple's ID.
    let channelID: String
    let storagePolicy: StoragePolicy
    var label: String?
    /// The event that it will serve.
    var eventKey: EventKey?
    /// The variant of the audience of that event; `nil`: the audience without a variant.
    var variant: Variant?
    /// The caller's reach. It limits the events that the channel may serve.
    var reach = AppReach.all
    /// Apple's answer that contained the policy.
    let answer: Contract.AuditAnswer
}

extension ChannelStore {
    /// Takes over a channel that already exists at Apple.
    ///
    /// - Throws: `app-not-found`; `channel-exists` if the ledger already has the channel, or the event has another
    ///   channel for this audience; `event-not-found`, `event-ended`; `invalid-request` if the event has no such
    ///   audience.
    func `import`(_ wanted: ChannelImport, by actor: AuditActor, now: Date) async throws -> Channel {
        do {
            return try await database.transaction { connection in
                let bundleID = try await Self.lock(wanted, on: connection)
                try await Self.refuseKnown(wanted, bundleID, on: connection)
                if let eventKey = wanted.eventKey {
                    try await Self.prepare(eventKey, for: wanted, bundleID, now: now, on: connection)
                }
                let channel = try await Self.take(
                    wanted, bundleID, AuditRows(by: actor, at: now, answer: wanted.answer), on: connection)
                try await IdempotencyMark.note(channel.id, on: connection)
                return channel
            }
        } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            throw Problem(.channelExists, "Somebody else took this channel over at the same time.", retryAfter: 1)
        }
    }

    /// Locks the app's quota until the commit.
    private static func lock(_ wanted: ChannelImport, on connection: PostgresConnection) async throws -> BundleID {
        let rows = try await connection.query(
            """
            select a.bundle_id from app_environments ae join apps a using (bundle_id)
            where a.topic = \(wanted.bundleID.topic) and ae.environment = \(wanted.environment.rawValue)::environment
                and ae.deleting_since is null
            for update of ae
            """)
        guard let row = rows.first else {
            throw Problem(
                .appNotFound,
                "There is no app \(wanted.bundleID). Register it with PUT /v1/apps/\(wanted.bundleID) first.")
        }
        return try row.word("bundle_id")
    }

    private static func refuseKnown(
        _ wanted: ChannelImport, _ bundleID: BundleID, on connection: PostgresConnection
    ) async throws {
        let rows = try await connection.query(
            """
            select \(columns) from channels c where c.bundle_id = \(bundleID.rawValue)
                and c.environment = \(wanted.environment.rawValue)::environment and c.channel_id = \(wanted.channelID)
            """)
        guard let known = try rows.first.map(channel) else { return }
        throw Problem(
            .channelExists,
            "This channel is managed already: \(known.id.uuidString.lowercased()), \(known.state.rawValue).",
            members: [.id(known.id), .state(known.state)])
    }

    /// Checks that the event has this audience, and that the audience has no channel. An intent that was not sent to
    /// Apple yet is replaced.
    private static func prepare(
        _ eventKey: EventKey, for wanted: ChannelImport, _ bundleID: BundleID, now: Date,
        on connection: PostgresConnection
    ) async throws {
        let audience = Audience.ID(bundleID: bundleID, environment: wanted.environment, variant: wanted.variant)
        let events = try await connection.query(
            """
            select e.ended_at is not null or e.cancelled_at is not null as is_over,
                case when \(AudienceColumns.wantsChannel("u")) then u.storage_policy end as storage_policy
            from events e left join audiences u on u.event_key = e.key and u.bundle_id = \(bundleID.rawValue)
                and u.environment = \(wanted.environment.rawValue)::environment
                and u.variant = \(AudienceColumns.text(wanted.variant))
            where e.key = \(eventKey.rawValue) for no key update of e
            """)
        guard let event = events.first else {
            throw Problem.noEvent(eventKey)
        }
        try await EventReach.require(wanted.reach, event: eventKey, on: connection)
        guard try !event.decode(Bool.self, "is_over") else {
            throw Problem(.eventEnded, "The event \(eventKey) is over and needs no channel.")
        }
        guard try event.optionalWord("storage_policy", as: StoragePolicy.self) == wanted.storagePolicy else {
            throw Problem(
                .invalidRequest, "The event \(eventKey) has no audience this channel can serve.",
                errors: [
                    FieldError(
                        pointer: "/eventKey",
                        detail: "The channel is \(wanted.storagePolicy.rawValue); the event needs an audience "
                            + "of \(bundleID) in \(wanted.environment.rawValue) "
                            + (wanted.variant.map { "in variant \($0) " } ?? "without a variant ") + "with that policy "
                            + "that is reached by a channel.")
                ])
        }
        try await connection.query(
            """
            update channels set state = 'deleted', reason = 'an imported channel took its place', next_attempt_at = null,
                changed_at = \(now)
            where event_key = \(eventKey.rawValue) and \(AudienceColumns.isSame("channels", audience))
                and (state = 'missing' or state in \(Channel.State.sql(.isIntent)) and called_at is null)
            """)
        let others = try await connection.query(
            """
            select \(columns) from channels c where c.event_key = \(eventKey.rawValue)
                and \(AudienceColumns.isSame("c", audience))
                and c.state in \(Channel.State.sql(.servesAudience))
            """)
        guard let other = try others.first.map(channel) else { return }
        throw Problem(
            .channelExists,
            "The event \(eventKey) has a channel for this audience: \(other.id.uuidString.lowercased()), "
                + "\(other.state.rawValue). Import without eventKey, or set the event's channelsOpenAt to later "
                + "and delete that one first.")
    }

    private static func take(
        _ wanted: ChannelImport, _ bundleID: BundleID, _ audit: AuditRows, on connection: PostgresConnection
    ) async throws -> Channel {
        let rows = try await connection.query(
            """
            with taken as (
                insert into channels (id, bundle_id, environment, variant, channel_id, storage_policy, state, event_key,
                    label, created_at, changed_at)
                values (\(UUID()), \(bundleID.rawValue), \(wanted.environment.rawValue)::environment,
                    \(AudienceColumns.text(wanted.variant)), \(wanted.channelID), \(wanted.storagePolicy.rawValue)::storage_policy, 'active',
                    \(wanted.eventKey?.rawValue), \(wanted.label), \(audit.now), \(audit.now))
                returning *
            ), logged as (\(audit.insert(.channelImported, channels: "taken c", reason: "null")))
            select \(columns) from taken c
            """)
        guard let channel = try rows.first.map(channel) else {
            throw Problem(.internalError, "The channel's row was not written.")
        }
        let app = AppEnvironment(bundleID: bundleID, environment: wanted.environment)
        try await connectLanes(to: channel, now: audit.now, on: connection)
        try await connection.pipeline([
            forgetting(unmanaged: [wanted.channelID], of: app), WakeUps.wake([.channels]),
        ])
        return channel
    }
}
