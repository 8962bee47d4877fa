internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension ChannelStore {
    /// Stores the intent to create a channel, within the app's limit. The caller gets a lease of the channel until
    /// `leasedUntil`.
    ///
    /// - Throws: `app-not-found`, `quota-exhausted`.
    func reserve(
        _ draft: Contract.ChannelDraft, for app: AppEnvironment, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask {
        try await database.transaction { connection in
            let row = try await Self.lock(app, on: connection)
            let address = try Self.address(row)
            let counts = try await connection.query(
                """
                select count(*) filter (where state in \(Channel.State.sql(.isAtApple))) as used,
                    count(*) filter (where state not in \(Channel.State.sql(.isAtApple))) as reserved,
                    (select count(*) from unmanaged_channels where \(AppColumns.isOf(address.app))) as unmanaged
                from channels
                where \(AppColumns.isOf(address.app)) and state in \(Channel.State.sql(.countsAgainstQuota))
                """)
            let limit: Int = try row.decode("channel_limit")
            let used: Int = try counts.first?.decode("used") ?? 0
            let reserved: Int = try counts.first?.decode("reserved") ?? 0
            let unmanaged: Int = try counts.first?.decode("unmanaged") ?? 0
            guard used + reserved < Quota.capacity(limit: limit, unmanaged: unmanaged) else {
                throw Problem.quotaExhausted(
                    address, limit: limit, used: used, reserved: reserved, unmanaged: unmanaged)
            }
            let added = Self.add(
                Self.rows([(nil, try StoragePolicy(draft.storagePolicy))], of: address.app, label: draft.label),
                as: .creating, leasedUntil: leasedUntil, at: now)
            let inserted = try await Self.make(added, nil, AuditRows(by: .server, at: now), on: connection)
            guard let channel = inserted.first else {
                throw Problem(.internalError, "The channel's row was not written.")
            }
            try await IdempotencyMark.current?.note(channel.id, on: connection)
            return ChannelTask(
                channel: channel, address: address, listAskedAt: try row.decode("apple_asked_at"))
        }
    }

    /// Locks the app's quota until the commit. This makes the limit exact: every reservation of this app and environment
    /// waits for the lock.
    ///
    /// - Returns: a row with the app's address and limit.
    /// - Throws: `app-not-found`.
    static func lock(_ app: AppEnvironment, on connection: PostgresConnection) async throws -> PostgresRow {
        let rows = try await connection.query(
            """
            select \(addressColumns), a.channel_limit from app_environments ae \(addressJoins)
            where \(AppColumns.isNamed(app, row: "ae")) and ae.deleting_since is null for update of ae
            """)
        guard let row = rows.first else { throw Problem.noApp(app.bundleID) }
        return row
    }
}
