internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension ReconciliationStore {
    /// Performs actions. Each is performed only if the ledger is still as it was when the action was decided. Deletions
    /// are leased to the caller.
    ///
    /// - Returns: which actions were performed, and the deletions to request from Apple.
    func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) {
        try await database.transaction { connection in
            try await Self.hold(run, on: connection)
            try await ChannelStore.lockLanes(of: actions.compactMap(\.entry?.id), on: connection)
            let step = Step(run: run, audit: AuditRows(by: actor, at: now), leasedUntil: leasedUntil)
            var done = Set<ReconciliationAction>()
            var deletions: [ChannelTask] = []
            // All actions of one kind are performed by one statement.
            for (name, group) in Dictionary(grouping: actions, by: \.name) {
                let (performed, tasks) = try await step.perform(name, group, on: connection)
                done.formUnion(performed)
                deletions += tasks
            }
            let known = done.filter { ![.release, .contest].contains($0.name) }.compactMap(\.channelID)
            try await connection.pipeline([
                ChannelStore.forgetting(unmanaged: known, of: run.address.app),
                "select pg_notify(\(WakeTopic.channels.rawValue), '')",
            ])
            return (actions.map(done.contains), deletions)
        }
    }

    /// Makes the app's creations that wait for their next attempt due now, whatever they wait for.
    func hastenCreations(_ run: ReconciliationRun, now: Date) async throws {
        try await database.transaction { connection in
            try await Self.hold(run, on: connection)
            try await connection.pipeline(ChannelStore.hasten(run.address.app, now: now))
        }
    }
}

/// The statements of the actions. A statement changes a channel only if the channel's state is still the state that the
/// action expects.
private struct Step {
    let run: ReconciliationRun
    let audit: AuditRows
    let leasedUntil: Date

    private var now: Date { audit.now }

    /// Performs actions of one kind.
    ///
    /// - Returns: the actions that were done, and the deletions that Apple must be asked for.
    func perform(
        _ name: Contract.ReconciliationActionName, _ actions: [ReconciliationAction], on connection: PostgresConnection
    ) async throws -> (done: [ReconciliationAction], deletions: [ChannelTask]) {
        let ids = actions.compactMap(\.entry?.id)
        let unmanaged = actions.compactMap(\.unmanaged)
        if name == .contest {
            let contested = Set(try await contest(unmanaged.map(\.channelID), on: connection))
            return (actions.filter { $0.channelID.map(contested.contains) ?? false }, [])
        }
        let refusals = name == .markMissing ? try await refusals(ids, on: connection) : [:]
        if name == .restore { try await connection.query(makeWay(ids)) }
        guard let statement = statement(name, ids, unmanaged) else { return ([], []) }
        let channels = try await connection.query(statement).map(ChannelStore.channel)
        if name == .markMissing || name == .settle { WebhookNews.note(channels: channels.map(\.id), at: now) }
        switch name {
        case .markMissing:
            try await ChannelStore.disconnectLanes(
                from: channels.map(\.id), refusals: refusals, now: now, on: connection)
        case .restore, .settle:
            for channel in channels { try await ChannelStore.connectLanes(to: channel, now: now, on: connection) }
        default: break
        }
        let doneIDs = Set(channels.map(\.id))
        let doneChannels = Set(channels.compactMap(\.channelID))
        let done = actions.filter { action in
            action.entry.map { doneIDs.contains($0.id) } ?? action.channelID.map(doneChannels.contains) ?? false
        }
        let deletions = done.first?.deletes == true ? channels : []
        return (done, deletions.map { ChannelTask(channel: $0, address: run.address) })
    }

    /// The statement for the actions of one kind; `nil`: they change no channel. It is about channels of the ledger or
    /// about unmanaged channels, and returns the channels that it changed.
    private func statement(
        _ name: Contract.ReconciliationActionName, _ ids: [UUID], _ unmanaged: [UnmanagedChannel]
    ) -> PostgresQuery? {
        let isOne: PostgresQuery = "c.id = any(\(ids))"
        // A creation without an answer, which no call makes any more.
        let isOver: PostgresQuery =
            "c.called_at is not null and (c.leased_until is null or c.leased_until <= \(now))"
        switch name {
        case .markMissing:
            return logging(
                .channelMissing, reason: "'not in APNs'' list, and APNs said so when asked for it'",
                ChannelStore.move(
                    isOne, from: Channel.State.having(.takesMessages), to: .deleted,
                    or: (.missing, if: "c.state = 'active'"), reason: "'APNs does not know it any more'",
                    also: ", doubted_at = null, examine_at = null", at: now))
        case .restore:
            return logging(
                .channelAdopted, reason: "'APNs lists it again'",
                ChannelStore.move(
                    """
                    \(isOne) and (c.state = 'missing' or not c.deletion_confirmed
                        and not exists (select from channels x where x.event_key = c.event_key
                            and \(AudienceColumns.isSame("x", "c")) and x.state in \(Channel.State.sql(.servesAudience))))
                    """, from: [.missing, .deleted], to: .active, at: now))
        case .confirm:
            return """
                update channels c set doubted_at = null, examine_at = null, reason = null, confirmed_at = \(now)
                where \(isOne) and c.doubted_at <= \(run.startedAt) returning \(ChannelStore.columns)
                """
        case .release: return release(isOne)
        case .settle:
            let channels: PostgresQuery = "unnest(\(ids), \(unmanaged.map(\.channelID))) as s(id, channel_id)"
            return logging(
                .channelAdopted, reason: "'its creation went unanswered; found in APNs'' list'",
                ChannelStore.move(
                    """
                    c.id = s.id and \(isOver) and not exists (select from channels x where x.bundle_id = c.bundle_id
                        and x.environment = c.environment and x.channel_id = s.channel_id)
                    """, with: channels, from: [.creating], to: .active,
                    also: ", channel_id = s.channel_id, attempts = 0", at: now))
        case .reopen:
            // A channel without an event is not created again, because the caller who requested it got
            // `apns-unanswered`.
            return ChannelStore.reading(
                ChannelStore.move(
                    "\(isOne) and \(isOver)", from: [.creating], to: .creating,
                    or: (.deleted, if: "c.event_key is null"),
                    reason: """
                        case when c.event_key is null then 'APNs did not answer, and no channel is surely its own'
                            else c.reason end
                        """, due: "case when c.event_key is not null then \(now)::timestamptz end", at: now))
        case .deleteAgain:
            return ChannelStore.reading(
                ChannelStore.move(
                    isOne, from: [.deleted], to: .deleting, reason: "'recorded as deleted, listed all the same'",
                    due: "\(leasedUntil)", leasedUntil: leasedUntil, also: ", attempts = 1", at: now))
        case .adopt:
            return logging(
                .channelAdopted, reason: "'it was unmanaged'",
                ChannelStore.add(rows(unmanaged), as: .active, at: now))
        case .deleteUnmanaged:
            return ChannelStore.reading(
                ChannelStore.add(
                    rows(unmanaged), as: .deleting, reason: "it was unmanaged", leasedUntil: leasedUntil, at: now))
        case .contest, .recreate, .unknown: return nil
        }
    }

    private func rows(_ channels: [UnmanagedChannel]) -> PostgresQuery {
        ChannelStore.rows(
            channels.map { ($0.channelID, $0.storagePolicy ?? .noMessageStored) }, of: run.address.app)
    }

    private func logging(
        _ action: Contract.AuditAction, reason: PostgresQuery, _ change: PostgresQuery
    ) -> PostgresQuery {
        ChannelStore.logging(action, audit, reason: reason, change)
    }

    /// The reasons with which Apple refused messages to channels in doubt that get no successor. There a refused message
    /// is rejected for good. Elsewhere it is sent to the next channel.
    private func refusals(_ ids: [UUID], on connection: PostgresConnection) async throws -> [UUID: String] {
        var refusals: [UUID: String] = [:]
        let rows = try await connection.query(
            """
            select id, reason from channels c where id = any(\(ids)) and doubted_at is not null and reason is not null
                and not exists (select from events where key = c.event_key and ended_at is null and cancelled_at is null)
            """)
        for row in rows { refusals[try row.decode("id")] = try row.decode("reason") }
        return refusals
    }

    /// The event channels `ids` are in Apple's list again. Other channels were to replace them; sets these replacements
    /// to `deleted`, unless Apple was already asked to create them.
    private func makeWay(_ ids: [UUID]) -> PostgresQuery {
        ChannelStore.drop(
            """
            x.id = any(\(ids)) and x.state = 'deleted' and c.event_key = x.event_key
                and \(AudienceColumns.isSame("c", "x"))
            """, with: "channels x", reason: "'the channel it was to replace is back'", at: now)
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

    /// - Returns: the channels that are contested now.
    private func contest(_ channelIDs: [String], on connection: PostgresConnection) async throws -> [String] {
        try await connection.query(
            """
            update unmanaged_channels set contested = true
            where \(AppColumns.isOf(run.address.app)) and channel_id = any(\(channelIDs)) returning channel_id
            """
        ).map { try $0.decode("channel_id") }
    }
}
