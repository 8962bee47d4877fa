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
        case when c.called_at is not null then greatest(c.next_attempt_at, c.leased_until) end as "settleableAt",
        c.deletion_confirmed as "deletionConfirmed", \(isWanted) as "isWanted"
        """
    }

    /// The columns of an app's address for calls to APNs. A statement with these columns selects from `app_environments
    /// ae` with the joins `addressJoins`.
    static let addressColumns: PostgresQuery = """
        a.bundle_id as app_bundle_id, ae.environment as app_environment,
        coalesce(ae.team_id, a.team_id) as team_id, coalesce(ae.key_id, a.key_id) as key_id,
        coalesce(ae.quirks #>> '{management-path,value}', 'registered') as management_path,
        \(isCapabilityOff) as is_capability_off,
        ae.apple_asked_at
        """

    static let addressJoins: PostgresQuery = "join apps a on a.bundle_id = ae.bundle_id"

    /// Whether the app of `ae` was last seen without its Broadcast capability.
    static let isCapabilityOff: PostgresQuery =
        "coalesce(ae.quirks #>> '{broadcast-feature,value}' = 'off', false)"

    static func address(_ row: PostgresRow) throws -> APNsAddress {
        APNsAddress(
            bundleID: try row.word("app_bundle_id"), environment: try row.word("app_environment"),
            credentials: Credentials(teamID: try row.decode("team_id"), keyID: try row.decode("key_id")),
            managementPath: try row.word("management_path"),
            isCapabilityOff: try row.decode("is_capability_off"))
    }

    static func task(_ row: PostgresRow) throws -> ChannelTask {
        ChannelTask(
            channel: try row.read(), address: try address(row), listAskedAt: try row.decode("apple_asked_at"))
    }

    func channel(_ id: UUID, of app: AppEnvironment) async throws -> Channel? {
        try await database.query(
            """
            select \(Self.columns) from channels c join apps a using (bundle_id)
            where c.id = \(id) and \(AppColumns.isNamed(app, row: "c"))
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
            "\(app.bundleID) has no channel \(id.words) in \(app.environment.rawValue). Paths take id, not Apple's "
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
            let leased = try await database.query("select from channels where id = \(id) and leased_until > now()")
            guard leased.isEmpty else { throw Problem.inProgress }
            throw Problem(.channelPending, "The channel is still being created. Ask again.", retryAfter: 2)
        }
        // If the channel has no ID, APNs refused to create it.
        return channel.channelID == nil ? nil : channel
    }

    func channels(
        of app: AppEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Contract.Page<Contract.Channel> {
        let part = try TimePage(page, by: "c.created_at", "c.id")
        let rows = try await database.query(
            """
            select \(Self.columns) from channels c join apps a using (bundle_id)
            where \(AppColumns.isNamed(app, row: "c"))
                and (\(filter.state?.rawValue)::text is null or c.state = \(filter.state?.rawValue)::text::channel_state)
                and (\(filter.storagePolicy?.rawValue)::text is null
                    or c.storage_policy = \(filter.storagePolicy?.rawValue)::text::storage_policy)
                and (\(filter.eventKey?.rawValue)::text is null or c.event_key = \(filter.eventKey?.rawValue))
                and (\(filter.channelID)::text is null or c.channel_id = \(filter.channelID))
                and \(part.condition)
            \(part.order)
            """)
        return part.page(try rows.read(Channel.self), { ($0.createdAt, $0.id.words) }, as: { Contract.Channel($0) })
    }

    /// Unmanaged channels, ordered by their IDs.
    func unmanagedChannels(
        of app: AppEnvironment, _ page: PageRequest
    ) async throws -> Contract.Page<Contract.Channel> {
        let rows = try await database.query(
            """
            select \(Self.unmanagedColumns)
            from unmanaged_channels u join apps a using (bundle_id)
            where \(AppColumns.isNamed(app, row: "u"))
                and (\(page.cursor)::text is null or u.channel_id > \(page.cursor))
            order by u.channel_id limit \(page.limit + 1)
            """)
        return Contract.Page(
            rows: try rows.map { Contract.Channel(try $0.read(), of: app) }, limit: page.limit
        ) { $0.channelId ?? "" }
    }

    static let unmanagedColumns: PostgresQuery = """
        u.channel_id as "channelID", u.first_seen_at as "firstSeenAt", u.lacked_at as "lackedAt",
        u.storage_policy as "storagePolicy", u.contested as "isContested"
        """

    /// The address for calls to APNs for an app, including its quirks; `nil`: no such app.
    func address(of app: AppEnvironment) async throws -> APNsAddress? {
        try await database.query(
            """
            select \(Self.addressColumns) from app_environments ae \(Self.addressJoins)
            where \(AppColumns.isNamed(app, row: "ae"))
            """
        ).first.map(Self.address)
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
            id: channel.id.words, channelId: channel.channelID, bundleId: channel.bundleID.rawValue,
            environment: .init(channel.environment), variant: channel.variant?.rawValue,
            storagePolicy: .init(channel.storagePolicy), state: channel.state,
            eventKey: channel.eventKey?.rawValue, label: channel.label, reason: channel.reason,
            nextAttemptAt: channel.nextAttemptAt, createdAt: channel.createdAt, managed: true, verified: verified)
    }

    /// A channel that Apple lists and the ledger does not have.
    init(_ channel: UnmanagedChannel, of app: AppEnvironment) {
        self.init(
            channelId: channel.channelID, bundleId: app.bundleID.rawValue, environment: .init(app.environment),
            storagePolicy: channel.storagePolicy.map(Contract.StoragePolicy.init), firstSeenAt: channel.firstSeenAt,
            managed: false)
    }
}
