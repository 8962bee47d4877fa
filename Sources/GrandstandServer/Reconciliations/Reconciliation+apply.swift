internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension ChannelStore {
    /// Performs actions. Each is performed only if the ledger is still as it was when the action was decided. Deletions
    /// are leased to the caller.
    ///
    /// - Returns: which actions were performed, and the deletions to request from Apple.
    func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) {
        try await database.forLongWork.transaction { connection in
            try await Self.hold(run, on: connection)
            try await Self.lockLanes(of: actions.compactMap(\.entry?.id), on: connection)
            let step = Step(
                run: run, audit: AuditRows(by: actor, at: now), leasedUntil: leasedUntil, connection: connection)
            var done = Set<ReconciliationAction>()
            var deletions: [ChannelTask] = []
            // All actions of one kind are performed by one statement.
            for (name, group) in Dictionary(grouping: actions, by: \.name) {
                let channels = try await step.perform(
                    name, group.compactMap(\.entry?.id), group.compactMap(\.unmanaged))
                let (ids, channelIDs) = (Set(channels.map(\.id)), Set(channels.compactMap(\.channelID)))
                done.formUnion(
                    group.filter { action in
                        name == .contest
                            || action.entry.map { ids.contains($0.id) }
                                ?? action.channelID.map(channelIDs.contains) ?? false
                    })
                if group[0].deletes { deletions += channels.map { ChannelTask(channel: $0, address: run.address) } }
            }
            let known = done.filter { ![.release, .contest].contains($0.name) }.compactMap(\.channelID)
            try await connection.pipeline([
                Self.forgetting(unmanaged: known, of: run.address.app), WakeUps.wake([.channels]),
            ])
            return (actions.map(done.contains), deletions)
        }
    }
}

/// The actions of one run. An action changes a channel only if the channel's state is still the state that the action
/// expects.
private struct Step {
    let run: ReconciliationRun
    let audit: AuditRows
    let leasedUntil: Date
    let connection: PostgresConnection

    private var now: Date { audit.now }

    /// Performs actions of one kind on channels of the ledger, or on unmanaged channels.
    ///
    /// - Returns: the channels that were changed.
    func perform(
        _ name: Contract.ReconciliationActionName, _ ids: [UUID], _ unmanaged: [UnmanagedChannel]
    ) async throws -> [Channel] {
        let channelIDs = unmanaged.map(\.channelID)
        let added = ChannelStore.rows(
            unmanaged.map { ($0.channelID, $0.storagePolicy ?? .noMessageStored) }, of: run.address.app)
        let isOne: PostgresQuery = "c.id = any(\(ids))"
        // A creation without an answer, which no call makes any more.
        let isOver: PostgresQuery =
            "c.called_at is not null and (c.leased_until is null or c.leased_until <= \(now))"
        switch name {
        case .markMissing:
            return try await make(
                ChannelStore.move(
                    isOne, from: .takesMessages, to: .deleted,
                    or: (.missing, if: "c.state = 'active'"), reason: "'APNs does not know it any more'",
                    also: ", doubted_at = null, examine_at = null", at: now),
                (.channelMissing, "'not in APNs'' list, and APNs said so when asked for it'"),
                refusals: try await refusals(ids))
        case .restore:
            // Other channels were to replace the channels that are listed again. These replacements become `deleted`,
            // unless Apple was already asked to create them.
            try await connection.query(
                ChannelStore.drop(
                    """
                    x.id = any(\(ids)) and x.state = 'deleted' and c.event_key = x.event_key
                        and \(AudienceColumns.isSame("c", "x"))
                    """, with: "channels x", reason: "'the channel it was to replace is back'", at: now))
            return try await make(
                ChannelStore.move(
                    """
                    \(isOne) and (c.state = 'missing' or not c.deletion_confirmed
                        and not exists (select from channels x where x.event_key = c.event_key
                            and \(AudienceColumns.isSame("x", "c")) and x.state in \(Channel.State.sql(.servesAudience))))
                    """, from: [.missing, .deleted], to: .active, at: now),
                (.channelAdopted, "'APNs lists it again'"), isNews: false)
        case .confirm:
            return try await connection.query(
                """
                update channels c set doubted_at = null, examine_at = null, reason = null, confirmed_at = \(now)
                where \(isOne) and c.doubted_at <= \(run.startedAt) returning \(ChannelStore.columns)
                """
            ).read()
        case .release: return try await connection.query(release(isOne)).read()
        case .settle:
            let channels: PostgresQuery = "unnest(\(ids), \(channelIDs)) as s(id, channel_id)"
            return try await make(
                ChannelStore.move(
                    """
                    c.id = s.id and \(isOver) and not exists (select from channels x where x.bundle_id = c.bundle_id
                        and x.environment = c.environment and x.channel_id = s.channel_id)
                    """, with: channels, from: [.creating], to: .active,
                    also: ", channel_id = s.channel_id, attempts = 0", at: now),
                (.channelAdopted, "'its creation went unanswered; found in APNs'' list'"))
        case .reopen:
            // A channel without an event is not created again, because the caller who requested it got
            // `apns-unanswered`.
            return try await make(
                ChannelStore.move(
                    "\(isOne) and \(isOver)", from: [.creating], to: .creating,
                    or: (.deleted, if: "c.event_key is null"),
                    reason: """
                        case when c.event_key is null then 'APNs did not answer, and no channel is surely its own'
                            else c.reason end
                        """, due: "case when c.event_key is not null then \(now)::timestamptz end", at: now))
        case .deleteAgain:
            return try await make(
                ChannelStore.move(
                    isOne, from: [.deleted], to: .deleting, reason: "'recorded as deleted, listed all the same'",
                    due: "\(leasedUntil)", leasedUntil: leasedUntil, also: ", attempts = 1", at: now))
        case .adopt:
            return try await make(
                ChannelStore.add(added, as: .active, at: now), (.channelAdopted, "'it was unmanaged'"))
        case .deleteUnmanaged:
            return try await make(
                ChannelStore.add(
                    added, as: .deleting, reason: "it was unmanaged", leasedUntil: leasedUntil, at: now))
        case .contest:
            try await connection.query(
                """
                update unmanaged_channels set contested = true
                where \(AppColumns.isOf(run.address.app)) and channel_id = any(\(channelIDs))
                """)
            return []
        case .recreate, .unknown: return []
        }
    }

    private func make(
        _ change: PostgresQuery, _ entry: (Contract.AuditAction, PostgresQuery)? = nil,
        refusals: [UUID: String] = [:], isNews: Bool = true
    ) async throws -> [Channel] {
        try await ChannelStore.make(change, entry, audit, refusals: refusals, isNews: isNews, on: connection)
    }

    /// The reasons with which Apple refused messages to channels in doubt that get no successor. There a refused message
    /// is rejected for good. Elsewhere it is sent to the next channel.
    private func refusals(_ ids: [UUID]) async throws -> [UUID: String] {
        let rows = try await connection.query(
            """
            select id, reason from channels c where id = any(\(ids)) and doubted_at is not null and reason is not null
                and not exists (select from events where key = c.event_key and ended_at is null and cancelled_at is null)
            """)
        return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.decode("id"), try $0.decode("reason")) })
    }

    /// Removes the ID from the ledger, so the channel is unmanaged from now on, with a new grace period. Devices may be
    /// subscribed to this channel, so it must not be taken for the result of an unanswered creation. To prevent this,
    /// `lacked_at` stays empty.
    private func release(_ isOne: PostgresQuery) -> PostgresQuery {
        """
        with changed as (
            select c.* from channels c where \(isOne) and c.state = 'deleted' and not c.deletion_confirmed
                and c.channel_id is not null for update
        ), given_up as (
            update channels c set channel_id = null, changed_at = \(now) from changed where c.id = changed.id
        ), seen as (
            insert into unmanaged_channels (bundle_id, environment, channel_id, storage_policy, first_seen_at)
            select bundle_id, environment, channel_id, storage_policy, \(now) from changed on conflict do nothing
        ), logged as (\(audit.insert(
            .channelReleased, channels: "changed c", reason: "'APNs lists it again, and its event has another'")))
        select \(ChannelStore.columns) from changed c
        """
    }
}
