internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
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
            try await Self.lockLeased(run, on: connection)
            let app = run.address.app
            let results = try await connection.pipeline([
                Self.noteListing(listing, askedAt: listedAt, seenAt: seenAt, app),
                // Unmanaged channels are read before the channels of the ledger. So a channel that moves into the
                // ledger between the two reads is in both results, not in neither.
                """
                select \(Self.unmanagedColumns) from unmanaged_channels u
                where \(AppColumns.isOf(app, row: "u"))
                order by u.first_seen_at, u.channel_id
                """,
                """
                \(Self.entries(of: app, "c.state in \(Channel.State.sql(.isReconciled))"))
                union all \(Self.entries(
                    of: app, "c.state = 'deleted' and c.channel_id = any(\(listing.channelIDs))",
                    isWanted: Self.needsNew))
                """,
            ])
            let seen = try results[1].read(UnmanagedChannel.self)
            let entries = try results[2].read(Channel.self)
            let unknown = Set(listing.channelIDs).subtracting(entries.compactMap(\.channelID))
            let unmanaged = seen.filter { unknown.contains($0.channelID) }
            // An unmanaged channel that was first seen in a newer list is kept.
            let gone = Set(seen.filter { $0.firstSeenAt < listedAt }).subtracting(unmanaged)
            try await connection.query(Self.forgetting(unmanaged: gone.map(\.channelID), of: app))
            return ReconciliationPlan(listing, entries, unmanaged: unmanaged, listedAt: listedAt)
        }
    }

    /// Records a complete list that was read just before a creation. A channel that this list lacks and a later list
    /// has was created between the two lists. The call needs no lease, because it only adds first sightings.
    func recordListing(_ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment) async throws {
        _ = try await database.forLongWork.transaction { connection in
            // After this lock the note sees each channel whose creation was recorded; later ones forget what is noted.
            try await connection.pipeline([
                "select from app_environments where \(AppColumns.isOf(app)) for no key update",
                Self.noteListing(listing, askedAt: askedAt, seenAt: seenAt, app),
            ])
        }
    }

    /// Records that a list was read whole, and its channels that the ledger does not know, unless a newer list was
    /// recorded. A channel that is already known keeps the time of its first sight.
    ///
    /// `lacked_at` is the time when the previous list was requested. A channel that is in this list but not in the
    /// previous one was made after that time.
    private static func noteListing(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) -> PostgresQuery {
        """
        with earlier as materialized (
            select bundle_id, environment, apple_asked_at from app_environments
            where \(AppColumns.isOf(app))
                and (apple_asked_at is null or apple_asked_at < \(askedAt))
            for no key update
        ), noted as (
            update app_environments ae
            set apple_count = \(listing.channelIDs.count), apple_asked_at = \(askedAt)
            from earlier e where \(AudienceColumns.isOfSameApp("ae", "e"))
            returning e.bundle_id, e.environment, e.apple_asked_at
        )
        insert into unmanaged_channels
            (bundle_id, environment, lacked_at, channel_id, first_seen_at)
        select n.*, l.id, \(seenAt) from noted n cross join unnest(\(listing.channelIDs)) as l(id)
        where not exists (select from channels c
            where \(AppColumns.isOf(app, row: "c")) and c.channel_id = l.id)
        on conflict do nothing
        """
    }

    /// Whether the event of the deleted channel `c` still needs a channel: the event is not over and still has the
    /// channel's audience, and Apple neither has nor may be making another channel for this audience.
    private static let needsNew: PostgresQuery = """
        exists (select from events e join audiences u on u.event_key = e.key
            where e.key = c.event_key and e.ended_at is null and e.cancelled_at is null
                and \(AudienceColumns.serves("u", "c")) and \(AudienceColumns.wantsChannel("u")))
            and not exists (select from channels x
                where x.event_key = c.event_key and \(AudienceColumns.isSame("x", "c"))
                and x.state in \(Channel.State.sql(.servesAudience))
                and (x.state not in \(Channel.State.sql(.intents)) or x.called_at is not null))
        """

    private static func entries(
        of app: AppEnvironment, _ condition: PostgresQuery, isWanted: PostgresQuery = "false"
    ) -> PostgresQuery {
        """
        (select \(Self.columns(isWanted: isWanted)) from channels c
        where \(AppColumns.isOf(app, row: "c")) and \(condition) order by c.created_at, c.id)
        """
    }
}

extension ChannelStore {
    /// Performs actions. Each is performed only if the ledger is still as it was when the action was decided. Deletions
    /// are leased to the caller.
    ///
    /// - Returns: which actions were performed, and the deletions to request from Apple.
    func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) {
        try await database.forLongWork.transaction { connection in
            try await Self.lockLeased(run, on: connection)
            try await Self.lockLanes(of: actions.compactMap(\.entry?.id), on: connection)
            let audit = AuditRows(by: actor, at: now)
            var changed: [Channel] = []
            // All actions of one kind are performed by one statement.
            for (name, group) in Dictionary(grouping: actions, by: \.name) {
                changed += try await Self.perform(
                    name, group.compactMap(\.entry?.id), group.compactMap(\.unmanaged), run, audit,
                    leasedUntil: leasedUntil, on: connection)
            }
            let (ids, channelIDs) = (Set(changed.map(\.id)), Set(changed.map(\.channelID)))
            let done = actions.map { action in
                if action.name == .contest { return true }
                return action.entry.map { ids.contains($0.id) } ?? channelIDs.contains(action.channelID)
            }
            let known = zip(actions, done).filter { $1 && ![.release, .contest].contains($0.name) }
            try await connection.pipeline([
                Self.forgetting(unmanaged: known.compactMap(\.0.channelID), of: run.address.app),
                WakeUps.notify([.channels]),
            ])
            let deletions = changed.filter { $0.state == .deleting }
            return (done, deletions.map { ChannelTask(channel: $0, address: run.address) })
        }
    }

    /// Performs actions of one kind on channels of the ledger, or on unmanaged channels. An action changes a channel only
    /// if the channel's state is still the state that the action expects.
    ///
    /// - Returns: the channels that were changed.
    private static func perform(
        _ name: Contract.ReconciliationActionName, _ ids: [UUID], _ unmanaged: [UnmanagedChannel],
        _ run: ReconciliationRun, _ audit: AuditRows, leasedUntil: Date, on connection: PostgresConnection
    ) async throws -> [Channel] {
        let (now, app, channelIDs) = (audit.at, run.address.app, unmanaged.map(\.channelID))
        let added = newRows(unmanaged.map { ($0.channelID, $0.storagePolicy ?? .noMessageStored) }, of: app)
        let isOne: PostgresQuery = "c.id = any(\(ids))"
        // A creation without an answer, which no call makes any more.
        let isOver: PostgresQuery = "c.called_at is not null and c.next_attempt_at <= \(now)"
        let change: PostgresQuery
        var entry: (Contract.AuditAction, PostgresQuery)?
        switch name {
        case .markMissing:
            entry = (.channelMissing, "'not in APNs'' list, and APNs said so when asked for it'")
            change = move(
                isOne, from: .takesMessages, to: .deleted, or: (.missing, if: "c.state = 'active'"),
                reason: "'APNs does not know it any more'", also: ", doubted_at = null", at: now)
        case .restore:
            // Other channels were to replace the channels that are listed again. These replacements become `deleted`,
            // unless Apple was already asked to create them.
            try await connection.query(
                move(
                    """
                    c.called_at is null and x.id = any(\(ids)) and x.state = 'deleted'
                        and c.event_key = x.event_key and \(AudienceColumns.isSame("c", "x"))
                    """, with: "channels x", from: .intents, to: .deleted,
                    reason: "'the channel it was to replace is back'", at: now))
            entry = (.channelAdopted, "'APNs lists it again'")
            change = move(
                """
                \(isOne) and (c.state = 'missing' or not c.deletion_confirmed
                    and not exists (select from channels x where x.event_key = c.event_key
                        and \(AudienceColumns.isSame("x", "c")) and x.state in \(Channel.State.sql(.servesAudience))))
                """, from: [.missing, .deleted], to: .active, at: now)
        case .settle:
            entry = (.channelAdopted, "'its creation went unanswered; found in APNs'' list'")
            change = move(
                """
                c.id = s.id and \(isOver) and not exists (select from channels x
                    where \(AppColumns.isOf(app, row: "x")) and x.channel_id = s.channel_id)
                """, with: "unnest(\(ids), \(channelIDs)) as s(id, channel_id)", from: [.creating],
                to: .active, also: ", channel_id = s.channel_id", at: now)
        case .reopen:
            // A channel without an event is not created again, because the caller who requested it got
            // `apns-unanswered`.
            change = move(
                "\(isOne) and \(isOver)", from: [.creating], to: .creating,
                or: (.deleted, if: "c.event_key is null"),
                reason: "'APNs did not answer, and no channel is surely its own'",
                due: "case when c.event_key is not null then \(now)::timestamptz end", at: now)
        case .deleteAgain:
            change = move(
                isOne, from: [.deleted], to: .deleting, reason: "'recorded as deleted, listed all the same'",
                leasedUntil: leasedUntil, at: now)
        case .adopt:
            entry = (.channelAdopted, "'it was unmanaged'")
            change = add(added, as: .active, at: now)
        case .deleteUnmanaged:
            change = add(added, as: .deleting, reason: "it was unmanaged", leasedUntil: leasedUntil, at: now)
        case .confirm:
            return try await connection.query(
                """
                update channels c set doubted_at = null, examine_at = \(now + doubtRest), reason = null
                where \(isOne) and c.doubted_at <= \(run.startedAt)
                    and c.state in \(Channel.State.sql(.takesMessages)) returning \(columns)
                """
            ).read()
        case .release: return try await connection.query(release(isOne, audit)).read()
        case .contest:
            try await connection.query(
                """
                update unmanaged_channels set contested = true
                where \(AppColumns.isOf(app)) and channel_id = any(\(channelIDs))
                """)
            return []
        case .recreate, .unknown: return []
        }
        // The reasons with which Apple refused messages to channels in doubt that get no successor. There a refused
        // message is rejected for good. Elsewhere it is sent to the next channel.
        let refusals = try await connection.query(
            """
            select id, reason from channels c
            where id = any(\(ids)) and doubted_at is not null and reason is not null and not exists (
                select from events where key = c.event_key and ended_at is null and cancelled_at is null)
            """
        ).map { (try $0.decode(UUID.self, "id"), try $0.decode(String.self, "reason")) }
        return try await makeChange(
            change, entry, audit, refusals: Dictionary(uniqueKeysWithValues: refusals),
            isNews: name != .restore, on: connection)
    }

    /// Removes the ID from the ledger, so the channel is unmanaged from now on, with a new grace period. Devices may be
    /// subscribed to this channel, so it must not be taken for the result of an unanswered creation. To prevent this,
    /// `lacked_at` stays empty.
    private static func release(_ isOne: PostgresQuery, _ audit: AuditRows) -> PostgresQuery {
        """
        with changed as (
            select c.* from channels c where \(isOne) and c.state = 'deleted' and not c.deletion_confirmed
                and c.channel_id is not null for update
        ), given_up as (
            update channels c set channel_id = null, changed_at = \(audit.at)
            from changed where c.id = changed.id
        ), seen as (
            insert into unmanaged_channels (bundle_id, environment, channel_id, first_seen_at)
            select bundle_id, environment, channel_id, \(audit.at) from changed
            on conflict do nothing
        ), logged as (\(audit.insert(
            .channelReleased, channels: "changed c",
            reason: "'APNs lists it again, and its event has another'")))
        select \(columns) from changed c
        """
    }
}
