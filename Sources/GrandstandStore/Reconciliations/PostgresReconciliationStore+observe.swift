package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresReconciliationStore {
    package func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> LedgerSnapshot {
        try await database.transaction { connection in
            try await Self.hold(run, on: connection)
            let app = run.address.app
            let results = try await connection.pipeline([
                """
                update app_environments set apple_count = \(listing.channelIDs.count), apple_listed_at = \(seenAt)
                where bundle_id = \(app.bundleID.rawValue) and environment = \(app.environment.rawValue)::environment
                """,
                // Before the channels: one that is recorded between the two is in both, not in neither.
                """
                select u.channel_id, u.first_seen_at, u.storage_policy from unmanaged_channels u
                where u.bundle_id = \(app.bundleID.rawValue)
                    and u.environment = \(app.environment.rawValue)::environment
                order by u.first_seen_at, u.channel_id
                """,
                Self.entries(of: app, "c.state in ('creating', 'active', 'retiring', 'deleting', 'missing')"),
            ])
            let seen = try results[1].map(PostgresChannelStore.unmanagedChannel)
            var entries = try results[2].map(Self.entry)

            // Compared here, not in SQL: thousands of rows without statistics mislead the planner into loops in loops.
            var unknown = Set(listing.channelIDs).subtracting(entries.compactMap(\.channelID))
            if !unknown.isEmpty {
                let deleted = try await connection.query(
                    Self.entries(of: app, "c.state = 'deleted' and c.channel_id = any(\(Array(unknown)))")
                ).map(Self.entry)
                entries += deleted
                unknown.subtract(deleted.compactMap(\.channelID))
            }
            let fresh = unknown.subtracting(seen.map(\.channelID)).sorted()
            try await Self.note(
                fresh: fresh, gone: seen.map(\.channelID).filter { !unknown.contains($0) }, of: app, seenAt: seenAt,
                on: connection)
            return LedgerSnapshot(
                entries: entries,
                unmanaged: seen.filter { unknown.contains($0.channelID) }
                    + fresh.map { UnmanagedChannel(channelID: $0, firstSeenAt: seenAt) },
                listedAt: listedAt)
        }
    }

    private static func entries(of app: Audience.Selector, _ condition: PostgresQuery) -> PostgresQuery {
        """
        select c.id, c.channel_id, c.state, c.storage_policy, c.event_key, c.changed_at, c.called_at,
            greatest(c.next_attempt_at, c.leased_until) as settleable_at
        from channels c
        where c.bundle_id = \(app.bundleID.rawValue) and c.environment = \(app.environment.rawValue)::environment
            and \(condition)
        order by c.created_at, c.id
        """
    }

    /// Takes down first sights, and forgets what Apple no longer lists or the ledger knows by now.
    private static func note(
        fresh: [String], gone: [String], of app: Audience.Selector, seenAt: Date, on connection: PostgresConnection
    ) async throws {
        var changes: [PostgresQuery] = []
        if !gone.isEmpty { changes.append(PostgresChannelStore.forgetting(unmanaged: gone, of: app)) }
        if !fresh.isEmpty {
            changes.append(
                """
                insert into unmanaged_channels (bundle_id, environment, channel_id, first_seen_at)
                select \(app.bundleID.rawValue), \(app.environment.rawValue)::environment, l.id, \(seenAt)
                from unnest(\(fresh)) as l(id)
                where not exists (select from channels c where c.bundle_id = \(app.bundleID.rawValue)
                    and c.environment = \(app.environment.rawValue)::environment and c.channel_id = l.id)
                on conflict do nothing
                """)
        }
        try await connection.pipeline(changes)
    }

    private static func entry(_ row: PostgresRow) throws -> LedgerSnapshot.Entry {
        let calledAt: Date? = try row.decode("called_at")
        return LedgerSnapshot.Entry(
            id: try row.decode("id"), channelID: try row.decode("channel_id"), state: try row.word("state"),
            storagePolicy: try row.word("storage_policy"), eventKey: try row.optionalWord("event_key"),
            changedAt: try row.decode("changed_at"), calledAt: calledAt,
            settleableAt: calledAt == nil ? nil : try row.decode("settleable_at"))
    }

    package func keep(policies: [String: StoragePolicy], _ run: ReconciliationRun) async throws {
        let sorted = policies.sorted { $0.key < $1.key }
        try await database.query(
            """
            update unmanaged_channels u set storage_policy = p.policy::storage_policy
            from unnest(\(sorted.map(\.key)), \(sorted.map(\.value.rawValue))) as p(id, policy)
            where u.bundle_id = \(run.address.bundleID.rawValue)
                and u.environment = \(run.address.environment.rawValue)::environment and u.channel_id = p.id
            """)
    }
}
