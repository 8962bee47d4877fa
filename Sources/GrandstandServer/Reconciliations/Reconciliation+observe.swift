internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension ChannelStore {
    /// Records Apple's list: when each channel was first seen, and which channels are no longer listed. The state of
    /// the channels is not changed.
    ///
    /// - Parameters:
    ///   - listedAt: when the list was requested.
    ///   - seenAt: when the list had arrived.
    /// - Returns: the plan for the ledger after the list was recorded.
    func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> ReconciliationPlan {
        try await database.forLongWork.transaction { connection in
            try await Self.hold(run, on: connection)
            let app = run.address.app
            let results = try await connection.pipeline([
                Self.note(listing, askedAt: listedAt, seenAt: seenAt, app),
                // Unmanaged channels are read before the channels of the ledger. So a channel that moves into the
                // ledger between the two reads is in both results, not in neither.
                """
                select \(Self.unmanagedColumns) from unmanaged_channels u
                where \(AppColumns.isOf(app, row: "u"))
                order by u.first_seen_at, u.channel_id
                """,
                Self.entries(of: app, "c.state in \(Channel.State.sql(.isReconciled))"),
            ])
            let seen = try results[1].read(UnmanagedChannel.self)
            var entries = try results[2].read(Channel.self)

            // The channel IDs are compared here, not in SQL, because without statistics the planner uses nested loops
            // over thousands of rows.
            var unknown = Set(listing.channelIDs).subtracting(entries.compactMap(\.channelID))
            if !unknown.isEmpty {
                let deleted = try await connection.query(
                    Self.entries(
                        of: app, "c.state = 'deleted' and c.channel_id = any(\(Array(unknown)))",
                        isWanted: Self.isWanted)
                ).read(Channel.self)
                entries += deleted
                unknown.subtract(deleted.compactMap(\.channelID))
            }
            // An unmanaged channel that was first seen in a newer list is kept.
            let gone = seen.filter { !unknown.contains($0.channelID) && $0.firstSeenAt < listedAt }.map(\.channelID)
            try await connection.query(Self.forgetting(unmanaged: gone, of: app))
            return ReconciliationPlan(
                listing, entries, unmanaged: seen.filter { unknown.contains($0.channelID) }, listedAt: listedAt)
        }
    }

    /// Records a complete list that was read just before a creation. A channel that this list lacks and a later list
    /// has was created between the two lists. The call needs no lease, because it only adds first sightings.
    func witness(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) async throws {
        _ = try await database.forLongWork.transaction { connection in
            // After this lock the note sees each channel whose creation was recorded; later ones forget what is noted.
            try await connection.pipeline([
                "select from app_environments where \(AppColumns.isOf(app)) for update",
                Self.note(listing, askedAt: askedAt, seenAt: seenAt, app),
            ])
        }
    }

    /// Records that a list was read whole, and its channels that the ledger does not know, unless a newer list was
    /// recorded. A channel that is already known keeps the time of its first sight.
    ///
    /// `lacked_at` is the time when the previous list was requested. A channel that is in this list but not in the
    /// previous one was made after that time.
    private static func note(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) -> PostgresQuery {
        """
        with earlier as materialized (
            select bundle_id, environment, apple_asked_at from app_environments
            where \(AppColumns.isOf(app))
                and (apple_asked_at is null or apple_asked_at < \(askedAt))
            for update
        ), noted as (
            update app_environments ae set apple_count = \(listing.channelIDs.count), apple_listed_at = \(seenAt),
                apple_asked_at = \(askedAt)
            from earlier e where ae.bundle_id = e.bundle_id and ae.environment = e.environment
            returning e.bundle_id, e.environment, e.apple_asked_at as lacked_at
        )
        insert into unmanaged_channels (bundle_id, environment, channel_id, first_seen_at, lacked_at)
        select n.bundle_id, n.environment, l.id, \(seenAt), n.lacked_at
        from noted n cross join unnest(\(listing.channelIDs)) as l(id)
        where not exists (select from channels c where \(AppColumns.isOf(app, row: "c")) and c.channel_id = l.id)
        on conflict do nothing
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
        of app: AppEnvironment, _ condition: PostgresQuery, isWanted: PostgresQuery = "false"
    ) -> PostgresQuery {
        """
        select \(Self.columns(isWanted: isWanted)) from channels c
        where \(AppColumns.isOf(app, row: "c")) and \(condition) order by c.created_at, c.id
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
