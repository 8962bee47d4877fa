internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension ReconciliationStore {
    /// Records Apple's list: when each channel was first seen, and which channels are no longer listed. The state of
    /// the channels is not changed.
    ///
    /// - Parameters:
    ///   - listedAt: when the list was requested.
    ///   - seenAt: when the list had arrived.
    /// - Returns: the ledger after the list was recorded.
    func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> LedgerSnapshot {
        try await database.transaction { connection in
            try await Self.hold(run, on: connection)
            let app = run.address.app
            let lackedAt = try await connection.query(
                Self.noteList(listing, askedAt: listedAt, seenAt: seenAt, app)
            ).first?.decode(Date?.self, "lacked_at")
            let results = try await connection.pipeline([
                Self.sighting(listing, of: app, seenAt: seenAt, lackedAt: lackedAt),
                // Unmanaged channels are read before the channels of the ledger. So a channel that moves into the
                // ledger between the two reads is in both results, not in neither.
                """
                select \(ChannelStore.unmanagedColumns) from unmanaged_channels u
                where \(AppColumns.isOf(app, row: "u"))
                order by u.first_seen_at, u.channel_id
                """,
                Self.entries(of: app, "c.state in \(Channel.State.sql(.isReconciled))"),
            ])
            let seen = try results[1].read(UnmanagedChannel.self)
            var entries = try results[2].read(LedgerSnapshot.Entry.self)

            // The channel IDs are compared here, not in SQL, because without statistics the planner uses nested loops
            // over thousands of rows.
            var unknown = Set(listing.channelIDs).subtracting(entries.compactMap(\.channelID))
            if !unknown.isEmpty {
                let deleted = try await connection.query(
                    Self.entries(
                        of: app, "c.state = 'deleted' and c.channel_id = any(\(Array(unknown)))", wanted: Self.isWanted)
                ).read(LedgerSnapshot.Entry.self)
                entries += deleted
                unknown.subtract(deleted.compactMap(\.channelID))
            }
            // An unmanaged channel that was first seen in a newer list is kept.
            let gone = seen.filter { !unknown.contains($0.channelID) && $0.firstSeenAt < listedAt }.map(\.channelID)
            if !gone.isEmpty { try await connection.query(ChannelStore.forgetting(unmanaged: gone, of: app)) }
            return LedgerSnapshot(
                entries: entries, unmanaged: seen.filter { unknown.contains($0.channelID) }, listedAt: listedAt)
        }
    }

    /// Records a complete list that was read just before a creation. A channel that this list lacks and a later list
    /// has was created between the two lists. The call needs no lease, because it only adds first sightings.
    func witness(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) async throws {
        try await database.transaction { connection in
            let rows = try await connection.query(Self.noteList(listing, askedAt: askedAt, seenAt: seenAt, app))
            // No row: a newer list was recorded meanwhile.
            guard let row = rows.first else { return }
            try await connection.query(
                Self.sighting(listing, of: app, seenAt: seenAt, lackedAt: try row.decode(Date?.self, "lacked_at")))
        }
    }

    /// Records that a list was read whole, unless a newer list was recorded.
    ///
    /// - Returns: a row with `lacked_at`: the time when the previous list was requested. A channel that is in this list
    ///   but not in the previous one was made after that time. No row: a newer list was recorded.
    private static func noteList(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) -> PostgresQuery {
        """
        with earlier as materialized (
            select bundle_id, environment, apple_asked_at from app_environments
            where \(AppColumns.isOf(app))
                and (apple_asked_at is null or apple_asked_at < \(askedAt))
            for update
        )
        update app_environments ae set apple_count = \(listing.channelIDs.count), apple_listed_at = \(seenAt),
            apple_asked_at = \(askedAt)
        from earlier e where ae.bundle_id = e.bundle_id and ae.environment = e.environment
        returning e.apple_asked_at as lacked_at
        """
    }

    /// Whether the event of the deleted channel `c` still needs a channel: the event is not over and still has the
    /// channel's audience, and Apple neither has nor may be making another channel for this audience.
    private static let isWanted: PostgresQuery = """
        exists (select from events e join audiences u on u.event_key = e.key
            where e.key = c.event_key and e.ended_at is null and e.cancelled_at is null
                and \(AudienceColumns.serves("u", "c")) and \(AudienceColumns.wantsChannel("u")))
            and not exists (select from channels x where x.event_key = c.event_key and \(AudienceColumns.isSame("x", "c"))
                and x.state in \(Channel.State.sql(.servesAudience))
                and (x.state not in \(Channel.State.sql(.isIntent)) or x.called_at is not null))
        """

    private static func entries(
        of app: AppEnvironment, _ condition: PostgresQuery, wanted: PostgresQuery = "false"
    ) -> PostgresQuery {
        """
        select c.id, c.channel_id as "channelID", c.state, c.storage_policy as "storagePolicy",
            c.event_key as "eventKey", c.changed_at as "changedAt", c.called_at as "calledAt",
            case when c.called_at is not null then greatest(c.next_attempt_at, c.leased_until) end as "settleableAt",
            c.doubted_at as "doubtedAt", c.deletion_confirmed as "deletionConfirmed", \(wanted) as "isWanted",
            nullif(c.variant, '') as variant
        from channels c
        where \(AppColumns.isOf(app, row: "c"))
            and \(condition)
        order by c.created_at, c.id
        """
    }

    /// Records the unmanaged channels of a list. A channel that is already known keeps the time of its first sight.
    private static func sighting(
        _ listing: ChannelListing, of app: AppEnvironment, seenAt: Date, lackedAt: Date?
    ) -> PostgresQuery {
        """
        insert into unmanaged_channels (bundle_id, environment, channel_id, first_seen_at, lacked_at)
        select \(app.bundleID.rawValue), \(app.environment.rawValue)::environment, l.id, \(seenAt),
            \(lackedAt)::timestamptz
        from unnest(\(listing.channelIDs)) as l(id)
        where not exists (select from channels c where \(AppColumns.isOf(app, row: "c")) and c.channel_id = l.id)
        on conflict do nothing
        """
    }

    /// Stores the storage policies that Apple reported for unmanaged channels.
    func keep(policies: [String: StoragePolicy], _ run: ReconciliationRun) async throws {
        let sorted = policies.sorted { $0.key < $1.key }
        try await database.query(
            """
            update unmanaged_channels u set storage_policy = p.policy::storage_policy
            from unnest(\(sorted.map(\.key)), \(sorted.map(\.value.rawValue))) as p(id, policy)
            where \(AppColumns.isOf(run.address.app, row: "u")) and u.channel_id = p.id
            """)
    }
}
