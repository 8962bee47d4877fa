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
            var done = Set<Int>()
            var deletions: [ChannelTask] = []
            // All actions of one kind are performed by one statement.
            for group in Dictionary(grouping: actions.enumerated(), by: \.element.name).values {
                let (places, tasks) = try await step.perform(group.map { ($0.offset, $0.element) }, on: connection)
                done.formUnion(places)
                deletions += tasks
            }
            let known = done.map { actions[$0] }.filter(\.takesIn).compactMap(\.channelID)
            try await connection.pipeline([
                ChannelStore.forgetting(unmanaged: known, of: run.address.app),
                "select pg_notify(\(WakeTopic.channels.rawValue), '')",
            ])
            return (actions.indices.map(done.contains), deletions)
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
    /// - Returns: the `place` values of the actions that were done, and the deletions that Apple must be asked for.
    func perform(
        _ actions: [(place: Int, action: ReconciliationAction)], on connection: PostgresConnection
    ) async throws -> (places: [Int], deletions: [ChannelTask]) {
        guard let first = actions.first?.action else { return ([], []) }
        let ids = actions.compactMap(\.action.entry?.id)
        let channels: [Channel]
        var deletions: [ChannelTask] = []
        switch first {
        case .recreate: return ([], [])
        case .markMissing:
            let refusals = try await refusals(ids, on: connection)
            channels = try await read(markMissing(ids), on: connection)
            try await ChannelStore.disconnectLanes(
                from: channels.map(\.id), refusals: refusals, now: now, on: connection)
        case .restore:
            try await connection.query(makeWay(ids))
            channels = try await read(restore(ids), on: connection)
            try await connect(channels, on: connection)
        case .confirm: channels = try await read(confirm(ids), on: connection)
        case .release: channels = try await read(release(ids), on: connection)
        case .contest: return (try await contest(actions, on: connection), [])
        case .settle:
            channels = try await read(settle(actions.map(\.action)), on: connection)
            try await connect(channels, on: connection)
        case .reopen: channels = try await read(reopen(ids), on: connection)
        case .deleteAgain:
            deletions = try await tasks(deleteAgain(ids), on: connection)
            channels = deletions.map(\.channel)
        case .deleteUnmanaged:
            deletions = try await tasks(takeOver(actions.map(\.action), as: .deleting), on: connection)
            channels = deletions.map(\.channel)
        case .adopt:
            channels = try await read(takeOver(actions.map(\.action), as: .active), on: connection)
        }
        let doneIDs = Set(channels.map(\.id))
        let doneChannels = Set(channels.compactMap(\.channelID))
        let places = actions.filter { item in
            item.action.entry.map { doneIDs.contains($0.id) }
                ?? item.action.channelID.map(doneChannels.contains) ?? false
        }.map(\.place)
        return (places, deletions)
    }

    // MARK: Statements

    private func markMissing(_ ids: [UUID]) -> PostgresQuery {
        logging(
            .channelMissing, reason: "'not in APNs'' list, and APNs said so when asked for it'",
            """
            update channels c set state = case c.state when 'active' then 'missing' else 'deleted' end::channel_state,
                reason = 'APNs does not know it any more', next_attempt_at = null, doubted_at = null, examine_at = null,
                changed_at = \(now)
            where c.id = any(\(ids)) and c.state in \(Channel.State.sql(.takesMessages))
            """)
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
        """
        update channels x set state = 'deleted', reason = 'the channel it was to replace is back', next_attempt_at = null,
            changed_at = \(now)
        from channels c where c.id = any(\(ids)) and c.state = 'deleted' and x.event_key = c.event_key
            and \(AudienceColumns.isSame("x", "c")) and x.state in \(Channel.State.sql(.isIntent)) and x.called_at is null
        """
    }

    private func restore(_ ids: [UUID]) -> PostgresQuery {
        logging(
            .channelAdopted, reason: "'APNs lists it again'",
            """
            update channels c set state = 'active', reason = null, changed_at = \(now)
            where c.id = any(\(ids)) and (c.state = 'missing' or c.state = 'deleted' and not c.deletion_confirmed
                and not exists (select from channels x where x.event_key = c.event_key
                    and \(AudienceColumns.isSame("x", "c")) and x.state in \(Channel.State.sql(.servesAudience))))
            """)
    }

    private func confirm(_ ids: [UUID]) -> PostgresQuery {
        """
        update channels c set doubted_at = null, examine_at = null, reason = null, confirmed_at = \(now)
        where c.id = any(\(ids)) and c.doubted_at <= \(run.startedAt) returning \(ChannelStore.columns)
        """
    }

    /// Removes the ID from the ledger, so the channel is unmanaged from now on, with a new grace period. Devices may be
    /// subscribed to this channel, so it must not be taken for the result of an unanswered creation. To prevent this,
    /// `lacked_at` stays empty.
    private func release(_ ids: [UUID]) -> PostgresQuery {
        """
        with changed as (
            select c.* from channels c where c.id = any(\(ids)) and c.state = 'deleted' and not c.deletion_confirmed
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

    /// - Returns: the `place` values of the actions that were done.
    private func contest(
        _ actions: [(place: Int, action: ReconciliationAction)], on connection: PostgresConnection
    ) async throws -> [Int] {
        let channelIDs = actions.compactMap(\.action.channelID)
        let contested = Set(
            try await connection.query(
                """
                update unmanaged_channels set contested = true
                where \(AppColumns.isOf(run.address.app))
                    and channel_id = any(\(channelIDs))
                returning channel_id
                """
            ).map { try $0.decode(String.self, "channel_id") })
        return actions.filter { $0.action.channelID.map(contested.contains) ?? false }.map(\.place)
    }

    private func settle(_ actions: [ReconciliationAction]) -> PostgresQuery {
        logging(
            .channelAdopted, reason: "'its creation went unanswered; found in APNs'' list'",
            """
            update channels c set state = 'active', channel_id = s.channel_id, reason = null, attempts = 0,
                next_attempt_at = null, leased_until = null, called_at = null, changed_at = \(now)
            from unnest(\(actions.compactMap(\.entry?.id)), \(actions.compactMap(\.channelID))) as s(id, channel_id)
            where c.id = s.id and c.called_at is not null and (c.leased_until is null or c.leased_until <= \(now))
                and not exists (select from channels x where x.bundle_id = c.bundle_id
                    and x.environment = c.environment and x.channel_id = s.channel_id)
            """)
    }

    /// Creates an event's channel again. A channel without an event is not created again, because the caller who
    /// requested it got `apns-unanswered`.
    private func reopen(_ ids: [UUID]) -> PostgresQuery {
        """
        update channels c set called_at = null, leased_until = null, changed_at = \(now),
            state = case when c.event_key is null then 'deleted' else 'creating' end::channel_state,
            reason = case when c.event_key is null then 'APNs did not answer, and no channel is surely its own' else c.reason end,
            next_attempt_at = case when c.event_key is null then null else \(now)::timestamptz end
        where c.id = any(\(ids)) and c.called_at is not null and (c.leased_until is null or c.leased_until <= \(now))
        returning \(ChannelStore.columns)
        """
    }

    private func deleteAgain(_ ids: [UUID]) -> PostgresQuery {
        """
        update channels c set state = 'deleting', reason = 'recorded as deleted, listed all the same', attempts = 1,
            leased_until = \(leasedUntil), next_attempt_at = \(leasedUntil), changed_at = \(now)
        where c.id = any(\(ids)) and c.state = 'deleted' returning c.*
        """
    }

    /// Inserts rows for unmanaged channels that are adopted or deleted.
    private func takeOver(_ actions: [ReconciliationAction], as state: Channel.State) -> PostgresQuery {
        let deletes = state == .deleting
        let channels = actions.compactMap(\.unmanaged)
        let insertion: PostgresQuery = """
            insert into channels (id, bundle_id, environment, channel_id, storage_policy, state, reason, attempts,
                leased_until, next_attempt_at, created_at, changed_at)
            select gen_random_uuid(), \(run.address.bundleID.rawValue),
                \(run.address.environment.rawValue)::environment, n.channel_id, n.policy::storage_policy,
                \(state.rawValue)::channel_state, \(deletes ? "it was unmanaged" : nil), \(deletes ? 1 : 0),
                \(deletes ? leasedUntil : nil), \(deletes ? leasedUntil : nil), \(now), \(now)
            from unnest(\(channels.map(\.channelID)), \(channels.map { ($0.storagePolicy ?? .noMessageStored).rawValue }))
                as n(channel_id, policy)
            on conflict do nothing returning *
            """
        if deletes { return insertion }
        return """
            with changed as (\(insertion)),
            logged as (\(audit.insert(.channelAdopted, channels: "changed c", reason: "'it was unmanaged'")))
            select \(ChannelStore.columns) from changed c
            """
    }

    private func logging(
        _ action: Contract.AuditAction, reason: PostgresQuery, _ update: PostgresQuery
    ) -> PostgresQuery {
        """
        with changed as (\(update) returning c.*),
        logged as (\(audit.insert(action, channels: "changed c", reason: reason)))
        select \(ChannelStore.columns) from changed c
        """
    }

    // MARK: Results

    private func read(_ query: PostgresQuery, on connection: PostgresConnection) async throws -> [Channel] {
        try await connection.query(query).map(ChannelStore.channel)
    }

    private func tasks(_ query: PostgresQuery, on connection: PostgresConnection) async throws -> [ChannelTask] {
        try await connection.query(
            "with changed as (\(query)) select \(ChannelStore.columns) from changed c"
        ).map { ChannelTask(channel: try ChannelStore.channel($0), address: run.address) }
    }

    private func connect(_ channels: [Channel], on connection: PostgresConnection) async throws {
        for channel in channels where channel.eventKey != nil {
            try await ChannelStore.connectLanes(to: channel, now: now, on: connection)
        }
    }
}

extension ReconciliationAction {
    /// Whether the ledger has the channel after this action.
    fileprivate var takesIn: Bool {
        switch self {
        case .release, .contest: false
        case .markMissing, .restore, .confirm, .deleteAgain, .settle, .reopen, .adopt, .deleteUnmanaged, .recreate: true
        }
    }
}
