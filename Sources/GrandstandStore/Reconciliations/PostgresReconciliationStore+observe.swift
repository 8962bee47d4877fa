package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresReconciliationStore {
    package func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> LedgerSnapshot {
        let bundleID = run.address.bundleID.rawValue
        let environment = run.address.environment.rawValue
        let ids = listing.channelIDs
        return try await database.transaction { connection in
            try await Self.hold(run, on: connection)
            let results = try await connection.pipeline([
                """
                update app_environments set apple_count = \(ids.count), apple_listed_at = \(seenAt)
                where bundle_id = \(bundleID) and environment = \(environment)::environment
                """,
                """
                delete from unmanaged_channels u
                where u.bundle_id = \(bundleID) and u.environment = \(environment)::environment
                    and (not exists (select from unnest(\(ids)) as l(id) where l.id = u.channel_id)
                        or exists (select from channels c where c.bundle_id = u.bundle_id
                            and c.environment = u.environment and c.channel_id = u.channel_id))
                """,
                """
                insert into unmanaged_channels (bundle_id, environment, channel_id, first_seen_at)
                select \(bundleID), \(environment)::environment, l.id, \(seenAt) from unnest(\(ids)) as l(id)
                where not exists (select from channels c where c.bundle_id = \(bundleID)
                    and c.environment = \(environment)::environment and c.channel_id = l.id)
                on conflict do nothing
                """,
                // Before the channels: one that is recorded between the two is in both, not in neither.
                """
                select u.channel_id, u.first_seen_at, u.storage_policy from unmanaged_channels u
                where u.bundle_id = \(bundleID) and u.environment = \(environment)::environment
                order by u.first_seen_at, u.channel_id
                """,
                """
                select c.id, c.channel_id, c.state, c.storage_policy, c.event_key, c.changed_at, c.called_at,
                    greatest(c.next_attempt_at, c.leased_until) as settleable_at
                from channels c
                where c.bundle_id = \(bundleID) and c.environment = \(environment)::environment
                    and (c.state in ('creating', 'active', 'retiring', 'deleting', 'missing')
                        or c.state = 'deleted' and c.channel_id = any(\(ids)))
                order by c.created_at, c.id
                """,
            ])
            return LedgerSnapshot(
                entries: try results[4].map(Self.entry),
                unmanaged: try results[3].map(PostgresChannelStore.unmanagedChannel), listedAt: listedAt)
        }
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
