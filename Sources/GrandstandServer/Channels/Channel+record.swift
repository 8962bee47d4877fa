internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The outcome of a call to Apple about one channel, with Apple's answer.
struct ChannelOutcome: Sendable {
    enum Change: Sendable, Hashable {
        /// Apple issued this ID.
        case created(channelID: String)
        /// The creation was refused or not tried. The channel is now in `state`. It is tried again at `nextAttemptAt`;
        /// `nil`: never.
        case notCreated(state: Channel.State, nextAttemptAt: Date?)
        /// Apple may have created a channel. From `settleableAt` on, Apple's list shows whether it did.
        case unanswered(settleableAt: Date)
        /// Apple deleted the channel, or did not know it.
        case deleted
        /// The channel was not deleted. The deletion is tried again at `nextAttemptAt`.
        case notDeleted(nextAttemptAt: Date)
    }

    let change: Change
    let answer: Contract.AuditAnswer

    init(_ change: Change, _ answer: Contract.AuditAnswer) {
        self.change = change
        self.answer = answer
    }
}

extension ChannelStore {
    /// Records the outcome of the call to Apple for `task`, and ends the lease. If the channel is active, the lane for
    /// its messages gets the channel. If another caller has the lease by now, the outcome changes nothing, but an ID
    /// that Apple issued is never lost.
    ///
    /// - Returns: the channel after the outcome was recorded.
    func record(
        _ outcome: ChannelOutcome, of task: ChannelTask, by actor: AuditActor, now: Date
    ) async throws -> Channel {
        let audit = AuditRows(by: actor, at: now, signingKey: task.address.credentials.keyID, answer: outcome.answer)
        return try await database.transaction { connection in
            if outcome.change.touchesLanes { try await Self.lockLanes(of: [task.channel.id], on: connection) }
            let rows = try await connection.query(Self.update(outcome, of: task, audit))
            let channel = try rows.first.map(Self.channel)
            if let channel {
                try await Self.follow(outcome, channel, task, audit, on: connection)
            } else if case .created(let channelID) = outcome.change {
                try await Self.keepLate(channelID, task, audit, on: connection)
            }
            try await connection.query("select pg_notify(\(WakeTopic.channels.rawValue), '')")
            if let channel { return channel }
            let present = try await connection.query(
                "select \(Self.columns) from channels c where c.id = \(task.channel.id)")
            guard let channel = try present.first.map(Self.channel) else {
                throw Problem(.channelNotFound, "There is no channel \(task.channel.id).")
            }
            return channel
        }
    }

    /// Records that the call to Apple for a leased creation begins now.
    ///
    /// - Returns: whether the task still has the lease.
    func beginCall(of task: ChannelTask, now: Date) async throws -> Bool {
        let rows = try await database.query(
            "update channels c set called_at = \(now) where \(Self.isStill(task)) returning c.id")
        return !rows.isEmpty
    }

    /// Extends the lease of a task until `until`. Nothing happens if another replica has the lease by now.
    func extendLease(of task: ChannelTask, until: Date) async throws {
        let isTasks: PostgresQuery =
            task.channel.state == .creating ? Self.isStill(task) : "c.id = \(task.channel.id) and c.state = 'deleting'"
        try await database.query(
            """
            update channels c set leased_until = \(until), next_attempt_at = \(until)
            where \(isTasks) and c.leased_until is not null
            """)
    }

    /// The row of the task, if the task still has its lease. A task without its lease may not record the outcome of its
    /// creation.
    private static func isStill(_ task: ChannelTask) -> PostgresQuery {
        """
        c.id = \(task.channel.id) and c.state = 'creating' and c.called_at is not null
            and c.attempts = \(task.channel.attempts)
        """
    }

    private static func update(_ outcome: ChannelOutcome, of task: ChannelTask, _ audit: AuditRows) -> PostgresQuery {
        let now = audit.now
        let reason = outcome.answer.canonicalReason
        return switch outcome.change {
        case .created(let channelID):
            logging(
                .channelCreated, audit, reason: "null",
                """
                update channels c set state = 'active', channel_id = \(channelID), reason = null, attempts = 0,
                    next_attempt_at = null, leased_until = null, called_at = null, changed_at = \(now)
                where \(isStill(task)) and not exists (\(holder(of: channelID, task)))
                """)
        case .notCreated(let state, let nextAttemptAt):
            logging(
                .channelRefused, audit, reason: "'creation'", onlyIf: isNews(outcome, task),
                """
                update channels c set state = \(state.rawValue)::channel_state, reason = \(reason),
                    next_attempt_at = \(nextAttemptAt), leased_until = null, called_at = null, changed_at = \(now)
                where \(isStill(task))
                """)
        case .unanswered(let settleableAt):
            logging(
                .channelUnanswered, audit, reason: "'creation'",
                """
                update channels c set reason = \(reason), next_attempt_at = \(settleableAt), leased_until = null,
                    changed_at = \(now)
                where \(isStill(task))
                """)
        case .deleted:
            logging(
                .channelDeleted, audit, reason: "\(task.channel.reason)",
                """
                update channels c set state = 'deleted', reason = null, next_attempt_at = null, leased_until = null,
                    doubted_at = null, examine_at = null, deletion_confirmed = true, changed_at = \(now)
                where c.id = \(task.channel.id) and c.state = 'deleting'
                """)
        case .notDeleted(let nextAttemptAt):
            logging(
                .channelRefused, audit, reason: "'deletion'", onlyIf: isNews(outcome, task),
                """
                update channels c set reason = \(reason), next_attempt_at = \(nextAttemptAt), leased_until = null,
                    changed_at = \(now)
                where c.id = \(task.channel.id) and c.state = 'deleting'
                """)
        }
    }

    /// A refusal is logged once for each reason, even if it is repeated.
    private static func isNews(_ outcome: ChannelOutcome, _ task: ChannelTask) -> PostgresQuery {
        "\(outcome.answer.status != nil && outcome.answer.canonicalReason != task.channel.reason)"
    }

    private static func logging(
        _ action: Contract.AuditAction, _ audit: AuditRows, reason: PostgresQuery,
        onlyIf condition: PostgresQuery = "true",
        _ update: PostgresQuery
    ) -> PostgresQuery {
        """
        with changed as (\(update) returning c.*),
        logged as (\(audit.insert(action, channels: "changed c where \(condition)", reason: reason)))
        select \(columns) from changed c
        """
    }

    /// The row of the ledger that already has this channel ID.
    private static func holder(of channelID: String, _ task: ChannelTask) -> PostgresQuery {
        """
        select from channels x where \(AppColumns.isOf(task.address.app, row: "x")) and x.channel_id = \(channelID)
        """
    }

    private static func follow(
        _ outcome: ChannelOutcome, _ channel: Channel, _ task: ChannelTask, _ audit: AuditRows,
        on connection: PostgresConnection
    ) async throws {
        switch outcome.change {
        case .created(let channelID):
            try await connectLanes(to: channel, now: audit.now, on: connection)
            try await connection.query(forgetting(unmanaged: [channelID], of: task.address.app))
            try await connection.query(hasRoom(task.address.app, now: audit.now))
        case .notCreated(_, let nextAttemptAt)
        where outcome.answer.canonicalReason == APNsReason.cannotCreateChannelConfig.rawValue:
            try await connection.pipeline(isFull(task.address.app, askAgainAt: nextAttemptAt, now: audit.now))
        case .deleted:
            try await disconnectLanes(from: [channel.id], now: audit.now, on: connection)
            try await connection.query(makingRoom(task, now: audit.now))
            try await connection.query(clearFullIfNobodyWaits(task.address.app))
        case .notCreated, .unanswered, .notDeleted: break
        }
    }

    /// Stores a channel ID that Apple issued to a call whose lease had ended. The creation was settled without this ID,
    /// so nobody uses the channel. The channel is deleted, unless the ledger already has a row with this ID.
    private static func keepLate(
        _ channelID: String, _ task: ChannelTask, _ audit: AuditRows, on connection: PostgresConnection
    ) async throws {
        let now = audit.now
        try await connection.query(
            """
            with kept as (
                insert into channels (id, bundle_id, environment, channel_id, storage_policy, state, reason,
                    next_attempt_at, created_at, changed_at)
                select gen_random_uuid(), \(task.address.bundleID.rawValue),
                    \(task.address.environment.rawValue)::environment, \(channelID),
                    \(task.channel.storagePolicy.rawValue)::storage_policy, 'deleting', \(lateReason), \(now), \(now),
                    \(now)
                where not exists (\(holder(of: channelID, task)))
                on conflict do nothing returning *
            )
            \(audit.insert(.channelAdopted, channels: "kept c", reason: "\(lateReason)"))
            """)
        try await connection.query(forgetting(unmanaged: [channelID], of: task.address.app))
    }

    private static let lateReason =
        "APNs answered the request for a channel after the server had stopped waiting for it"

    /// Gives the channel to the lanes of its audience. Messages that waited for it can be sent, and so can the event's
    /// start.
    static func connectLanes(to channel: Channel, now: Date, on connection: PostgresConnection) async throws {
        guard let eventKey = channel.eventKey else { return }
        let lanes: PostgresQuery = """
            (array(select u.lane from audiences u where u.event_key = \(eventKey.rawValue)
                and \(AudienceColumns.isSame("u", channel.audience))
                and u.storage_policy = \(channel.storagePolicy.rawValue)::storage_policy
                and \(AudienceColumns.wantsChannel("u"))))
            """
        let target = Lane.Channel(id: channel.id, channelID: channel.channelID, takesMessages: true)
        try await LaneRows.move(lanes, at: now, on: connection) { lane in
            let given = lane.channel?.id == target.id ? nil : lane.disconnect(at: now)
            lane.connect(target)
            return given
        }
        try await connection.pipeline([
            StartStore.restart(channel, of: eventKey), StartStore.makeDue(eventKey, now: now),
            WakeUps.wake([.lanes(channel.environment), .starts]),
        ])
    }

    /// Takes channels that no longer exist away from their lanes.
    ///
    /// - Parameter refusals: the reasons with which APNs refused messages to them, by channel.
    static func disconnectLanes(
        from channels: [UUID], refusals: [UUID: String] = [:], now: Date, on connection: PostgresConnection
    ) async throws {
        guard !channels.isEmpty else { return }
        let lanes: PostgresQuery = "(array(select id from lanes where channel = any(\(channels))))"
        try await LaneRows.move(lanes, at: now, on: connection) { lane in
            lane.disconnect(refusal: lane.channel.flatMap { refusals[$0.id] }, at: now)
        }
    }

    /// Locks every lane that has one of these channels or will have one, in the order of IDs. Call this before any
    /// change of the channels, because all transactions lock lanes before channels.
    static func lockLanes(of channels: [UUID], on connection: PostgresConnection) async throws {
        guard !channels.isEmpty else { return }
        try await connection.query(
            """
            select from lanes where id = any(array(
                select id from lanes where channel = any(\(channels))
                union select u.lane from (select * from channels where id = any(\(channels)) offset 0) c
                cross join lateral (select * from audiences where event_key = c.event_key offset 0) u
                where \(AudienceColumns.serves("c", "u"))))
            order by id for no key update
            """)
    }

    /// Deletes channels from the list of unmanaged channels, because the ledger has them now.
    static func forgetting(unmanaged channelIDs: [String], of app: AppEnvironment) -> PostgresQuery {
        """
        delete from unmanaged_channels where \(AppColumns.isOf(app)) and channel_id = any(\(channelIDs))
        """
    }
}

extension ChannelOutcome.Change {
    /// Whether the change gives a lane its channel or takes it away.
    fileprivate var touchesLanes: Bool {
        switch self {
        case .created, .deleted: true
        case .notCreated, .unanswered, .notDeleted: false
        }
    }
}
