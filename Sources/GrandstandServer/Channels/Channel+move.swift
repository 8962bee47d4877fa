internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The only statements that write the state of a channel.
extension ChannelStore {
    /// Moves channels `c` from one of the states `from` to `to` and returns their rows. Their leases end, unless the
    /// caller gets a lease for a call to Apple: nobody else makes one before `next_attempt_at`. `attempts` counts these
    /// calls; a creation counts them also in `failed`.
    ///
    /// - Parameters:
    ///   - which: the condition on a channel `c`, and on the rows of `others`, an item of the statement's `from`.
    ///   - other: another new state, and which channels get it.
    ///   - reason: like `due`, an expression for the column's new value.
    ///   - due: when Apple is asked next; `nil`: when the lease ends, or never.
    ///   - also: further assignments, each after a comma.
    static func move(
        _ which: PostgresQuery, with others: PostgresQuery? = nil, from: Set<Channel.State>, to: Channel.State,
        or other: (state: Channel.State, if: PostgresQuery)? = nil, reason: PostgresQuery = "null",
        due: PostgresQuery? = nil, leasedUntil: Date? = nil, also: PostgresQuery = "", at now: Date
    ) -> PostgresQuery {
        let targets = Set([to, other?.state].compactMap(\.self))
        assert(from.allSatisfy { !$0.next.isDisjoint(with: targets) }, "\(from) cannot become \(targets)")
        let state: PostgresQuery =
            if let other { "(case when \(other.if) then \(other.state.sql) else \(to.sql) end)" } else { to.sql }
        let source: PostgresQuery = if let others { "from \(others)" } else { "" }
        return """
            update channels c set state = \(state), reason = \(reason), changed_at = \(now),
                next_attempt_at = \(due ?? "\(leasedUntil)"),
                called_at = case \(state) when 'creating' then \(leasedUntil == nil ? nil : now)::timestamptz end,
                attempts = case when \(state) in (c.state, 'creating', 'failed') then c.attempts else 0 end
                    + \(leasedUntil == nil ? 0 : 1)\(also)
            \(source) where c.state in \(Channel.State.sql(from)) and \(which) returning c.*
            """
    }

    /// Adds channels and returns their rows. Channels that the ledger has, and those of audiences that have one, are not
    /// added.
    ///
    /// - Parameter rows: a statement with the columns that identify an audience, its policy and event, Apple's ID and
    ///   the label (`newRows`).
    static func add(
        _ rows: PostgresQuery, as state: Channel.State, reason: String? = nil, due: Date? = nil,
        leasedUntil: Date? = nil, at now: Date
    ) -> PostgresQuery {
        """
        insert into channels as c (\(AudienceColumns.id), storage_policy, event_key, channel_id, label, id, state, reason,
            attempts, called_at, next_attempt_at, created_at, changed_at)
        select n.*, gen_random_uuid(), \(state.sql), \(reason), \(leasedUntil == nil ? 0 : 1),
            \(state == .creating ? now : nil), \(due ?? leasedUntil), \(now), \(now)
        from (\(rows)) n on conflict do nothing returning c.*
        """
    }

    /// Rows for `add`: channels of one app.
    static func newRows(
        _ channels: [(channelID: String?, policy: StoragePolicy)], of app: AppEnvironment, variant: Variant? = nil,
        eventKey: EventKey? = nil, label: String? = nil
    ) -> PostgresQuery {
        """
        select \(app.bundleID.rawValue)::text, \(app.environment.rawValue)::environment,
            \(AudienceColumns.text(variant))::text, n.policy::storage_policy, \(eventKey?.rawValue)::text, n.channel_id,
            \(label)::text
        from unnest(\(channels.map(\.channelID)), \(channels.map(\.policy.rawValue))) as n(channel_id, policy)
        """
    }

    /// Makes a change of `move` or `add`, and does what follows from a channel's new state: an active channel gets the
    /// lanes of its audience, and a channel that Apple does not have loses them. The lanes must be locked (`lockLanes`).
    ///
    /// - Parameters:
    ///   - entry: the action and the reason of an entry in the audit log for each changed channel `c`.
    ///   - refusals: the reasons with which APNs refused messages to channels, by channel.
    ///   - isNews: whether webhooks are told.
    /// - Returns: the changed channels.
    static func makeChange(
        _ change: PostgresQuery, _ entry: (Contract.AuditAction, PostgresQuery)?, _ audit: AuditRows,
        refusals: [UUID: String] = [:], isNews: Bool = true, on connection: PostgresConnection
    ) async throws -> [Channel] {
        let logged = entry.map { audit.insert($0, channels: "changed c", reason: $1) } ?? "select"
        let channels = try await connection.query(
            "with changed as (\(change)), logged as (\(logged)) select \(columns) from changed c"
        ).read(Channel.self)
        let gone = channels.filter { $0.state == .missing || $0.state == .deleted }.map(\.id)
        if isNews { WebhookNews.note(channels: channels.map(\.id), at: audit.at) }
        if !gone.isEmpty { try await disconnectLanes(from: gone, refusals: refusals, now: audit.at, on: connection) }
        for channel in channels where channel.state == .active {
            try await connectLanes(to: channel, now: audit.at, on: connection)
        }
        return channels
    }

    /// Makes a change, and returns the changed channels with everything that a call to Apple needs.
    func leasing(_ change: PostgresQuery) async throws -> [ChannelTask] {
        try await database.query(
            """
            with leased as (\(change))
            select \(Self.columns), \(Self.addressColumns) from leased c
            join app_environments ae on ae.bundle_id = c.bundle_id and ae.environment = c.environment
            \(Self.addressJoins)
            """
        ).map { row in
            ChannelTask(
                channel: try row.read(), address: try row.read(), listAskedAt: try row.decode("apple_asked_at"))
        }
    }
}

extension Channel.State {
    fileprivate var sql: PostgresQuery { "\(rawValue)::text::channel_state" }

    /// States as SQL after `state in`. They are no parameters, so that the planner sees which partial index fits.
    static func sql(_ states: Set<Self>) -> PostgresQuery {
        PostgresQuery(unsafeSQL: "(\(states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")))")
    }
}
