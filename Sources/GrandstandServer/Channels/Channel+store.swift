internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The ledger of channels, in the table `channels`: why each exists, and which call to Apple it needs next.
struct ChannelStore: Sendable {
    let database: Database

    init(_ database: Database) { self.database = database }

    static let columns: PostgresQuery = columns(isWanted: "false")

    static func columns(isWanted: PostgresQuery) -> PostgresQuery {
        """
        c.id, c.bundle_id as "bundleID", c.environment, c.channel_id as "channelID",
        c.storage_policy as "storagePolicy", c.state, c.event_key as "eventKey", c.label, c.reason, c.attempts,
        c.next_attempt_at as "nextAttemptAt", c.created_at as "createdAt", nullif(c.variant, '') as variant,
        c.changed_at as "changedAt", c.called_at as "calledAt", c.doubted_at as "doubtedAt",
        case when c.called_at is not null then c.next_attempt_at end as "settleableAt",
        c.deletion_confirmed as "deletionConfirmed", \(isWanted) as "isWanted"
        """
    }

    /// The columns of an `APNsAddress`. A statement with these columns selects from `app_environments
    /// ae` with the joins `addressJoins`.
    static let addressColumns: PostgresQuery = """
        a.bundle_id as "bundleID", ae.environment, coalesce(ae.team_id, a.team_id) as "credentials.teamID",
        coalesce(ae.key_id, a.key_id) as "credentials.keyID",
        coalesce(ae.quirks #>> '{management-path,value}', 'registered') as "managementPath",
        \(isCapabilityOff) as "isCapabilityOff", ae.apple_asked_at
        """

    static let addressJoins: PostgresQuery = "join apps a on a.bundle_id = ae.bundle_id"

    /// Whether the app of `ae` was last seen without its Broadcast capability.
    static let isCapabilityOff: PostgresQuery =
        "coalesce(ae.quirks #>> '{broadcast-feature,value}' = 'off', false)"

    func channel(_ id: UUID, of app: AppEnvironment) async throws -> Channel? {
        try await database.query(
            """
            select \(Self.columns) from channels c join apps a using (bundle_id)
            where c.id = \(id) and \(AppColumns.isOfTopic(app, row: "c"))
            """
        ).first?.read()
    }

    /// A channel of the ledger, by its ID.
    ///
    /// - Throws: `app-not-found`, `channel-not-found`.
    func recorded(_ id: UUID, of app: AppEnvironment, among apps: AppStore) async throws -> Channel {
        if let channel = try await channel(id, of: app) { return channel }
        _ = try await apps.registered(app.bundleID)
        throw Problem(
            .channelNotFound,
            "\(app.bundleID) has no channel \(id.text) in \(app.environment.rawValue). Paths take id, not Apple's "
                + "channelId.")
    }

    /// The channel that an earlier request with the same idempotency key began to create.
    ///
    /// - Returns: `nil` if that creation failed.
    /// - Throws: `idempotency-in-progress` while somebody asks Apple for it; `channel-pending` while its creation waits
    ///   for Apple's list or another attempt.
    func begun(_ id: UUID, of app: AppEnvironment) async throws -> Channel? {
        let channel = try await channel(id, of: app)
        guard let channel, channel.state != .failed else { return nil }
        if channel.state == .creating {
            let called = try await database.query(
                "select from channels where id = \(id) and called_at is not null and next_attempt_at > now()")
            guard called.isEmpty else { throw Problem.inProgress }
            throw Problem(.channelPending, "The channel is still being created. Ask again.", retryAfter: 2)
        }
        // If the channel has no ID, APNs refused to create it.
        return channel.channelID == nil ? nil : channel
    }

    func channels(
        of app: AppEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Contract.Page<Contract.Channel> {
        try await database.page(
            page,
            of: """
                select \(Self.columns) from channels c join apps a using (bundle_id)
                where \(AppColumns.isOfTopic(app, row: "c"))
                    and c.state::text = coalesce(\(filter.state?.rawValue), c.state::text)
                    and c.storage_policy::text = coalesce(\(filter.storagePolicy?.rawValue), c.storage_policy::text)
                    and (\(filter.eventKey?.rawValue)::text is null or c.event_key = \(filter.eventKey?.rawValue))
                    and (\(filter.channelID)::text is null or c.channel_id = \(filter.channelID))
                """, as: { try $0.map { Contract.Channel(try $0.read()) } })
    }

    /// Unmanaged channels, ordered by their IDs.
    func unmanagedChannels(
        of app: AppEnvironment, _ page: PageRequest
    ) async throws -> Contract.Page<Contract.Channel> {
        let rows = try await database.query(
            """
            select \(Self.unmanagedColumns)
            from unmanaged_channels u join apps a using (bundle_id)
            where \(AppColumns.isOfTopic(app, row: "u"))
                and (\(page.cursor)::text is null or u.channel_id > \(page.cursor))
            order by u.channel_id limit \(page.limit + 1)
            """)
        return Contract.Page(
            rows: try rows.map { Contract.Channel(try $0.read(), of: app) }, limit: page.limit
        ) { $0.channelId ?? "" }
    }

    static let unmanagedColumns: PostgresQuery = """
        u.channel_id as "channelID", u.first_seen_at as "firstSeenAt", u.lacked_at as "lackedAt",
        u.contested as "isContested"
        """

    /// The address for calls to APNs for an app, including its quirks; `nil`: no such app.
    func address(of app: AppEnvironment) async throws -> APNsAddress? {
        try await database.query(
            """
            select \(Self.addressColumns) from app_environments ae \(Self.addressJoins)
            where \(AppColumns.isOfTopic(app, row: "ae"))
            """
        ).first?.read()
    }
}

/// A filter of channels; a member that is `nil` does not filter.
struct ChannelFilter: Sendable, Hashable {
    var state: Channel.State?
    var storagePolicy: StoragePolicy?
    var eventKey: EventKey?
    var channelID: String?
}

/// A leased channel, with everything that a call to Apple needs.
struct ChannelTask: Sendable, Hashable {
    var channel: Channel
    var address: APNsAddress
    /// When the server asked Apple for the newest list of the app's channels that it could read completely; `nil`: no
    /// list was read yet.
    var listAskedAt: Date?
}

extension Contract.Channel {
    /// A channel of the ledger.
    ///
    /// - Parameter verified: the result of asking Apple about it; `nil`: Apple was not asked.
    init(_ channel: Channel, verified: Contract.Verification? = nil) {
        self.init(
            id: channel.id.text, channelId: channel.channelID, bundleId: channel.bundleID.rawValue,
            environment: .init(channel.environment), variant: channel.variant?.rawValue,
            storagePolicy: .init(channel.storagePolicy), state: channel.state,
            eventKey: channel.eventKey?.rawValue, label: channel.label, reason: channel.reason,
            nextAttemptAt: channel.nextAttemptAt, createdAt: channel.createdAt, managed: true, verified: verified)
    }

    /// A channel that Apple lists and the ledger does not have.
    init(_ channel: UnmanagedChannel, of app: AppEnvironment) {
        self.init(
            channelId: channel.channelID, bundleId: app.bundleID.rawValue, environment: .init(app.environment),
            firstSeenAt: channel.firstSeenAt, managed: false)
    }
}

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
            let app = try await Self.lock(app, on: connection).read(APNsAddress.self).app
            let audience = Audience.ID(bundleID: app.bundleID, environment: app.environment, variant: variant)
            if let eventKey {
                try await Self.prepareImport(eventKey, policy, for: audience, within: reach, now: now, on: connection)
            }
            let row = Self.newRows(
                [(wanted.channelId, policy)], of: app, variant: variant, eventKey: eventKey, label: wanted.label)
            let taken = try await Self.makeChange(
                Self.add(row, as: .active, at: now), (.channelImported, "null"),
                AuditRows(by: actor, at: now, answer: answer), on: connection)
            guard let channel = taken.first else {
                let same: Channel? = try await connection.query(
                    """
                    select \(Self.columns) from channels c
                    where \(AppColumns.isOf(app, row: "c")) and c.channel_id = \(wanted.channelId)
                    """
                ).first?.read()
                throw Problem(
                    .channelExists,
                    same.map { "This channel is managed already: \($0.id.text), \($0.state.rawValue)." }
                        ?? "The event has a channel for this audience. Import without eventKey, or set the event's "
                        + "channelsOpenAt to later and delete that one first."
                ) { ($0.id, $0.state) = (same?.id.text, same?.state) }
            }
            try await connection.pipeline([
                Self.forgetting(unmanaged: [wanted.channelId], of: app), WakeUps.notify([.channels]),
            ])
            try await IdempotentRequest.current?.record(channel.id, on: connection)
            return channel
        }
    }

    /// Checks that the event has this audience. An intent that was not sent to Apple yet is replaced.
    private static func prepareImport(
        _ eventKey: EventKey, _ policy: StoragePolicy, for audience: Audience.ID, within reach: AppReach, now: Date,
        on connection: PostgresConnection
    ) async throws {
        guard try await !EventChange.lock(eventKey, within: reach, on: connection).isOver else {
            throw Problem(.eventEnded, "The event \(eventKey) is over and needs no channel.")
        }
        let served = try await connection.query(
            """
            select from audiences u where u.event_key = \(eventKey.rawValue) and \(AudienceColumns.isSame("u", audience))
                and u.storage_policy = \(policy.rawValue)::storage_policy and \(AudienceColumns.wantsChannel("u"))
            """)
        guard !served.isEmpty else {
            throw Problem.invalid(
                "The event \(eventKey) has no audience this channel can serve.", at: "/eventKey",
                "An audience of \(audience.words) with the policy \(policy.rawValue) is needed, reached by a channel.")
        }
        try await connection.query(
            move(
                """
                c.called_at is null and c.event_key = \(eventKey.rawValue) and \(AudienceColumns.isSame("c", audience))
                """, from: [.creating, .failed, .missing], to: .deleted,
                reason: "'an imported channel took its place'", at: now))
    }
}
