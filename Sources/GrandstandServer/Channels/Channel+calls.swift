internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension ChannelStore {
    /// Leases channels for which a call to Apple is due: creations, retirements whose time has come, deletions. A
    /// creation with an unknown outcome is never claimed again. A reconciliation finds out whether the channel exists.
    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask] {
        try await leasing(
            Self.move(
                """
                c.id = any(array(
                    select id from channels
                    where next_attempt_at <= \(now) and state in \(Channel.State.sql(.awaitsCall))
                        and called_at is null
                    order by next_attempt_at limit \(limit) for update skip locked))
                """, from: .awaitsCall, to: .deleting, or: (.creating, if: "c.state = 'creating'"),
                reason: "c.reason", leasedUntil: leasedUntil, at: now))
    }

    /// When the next channel is due; `nil`: none waits.
    func nextDue(now: Date) async throws -> Date? {
        try await database.query(
            """
            select least(
                (select min(next_attempt_at) from channels where next_attempt_at is not null and called_at is null),
                (select min(channels_open_at) from events
                    where channels_open_at > \(now) and ended_at is null and cancelled_at is null)) as at
            """
        ).first?.decode(Date?.self, "at")
    }

    /// Leases one channel for deletion; `nil`: an event needs it, and `force` is false.
    func beginDeletion(_ id: UUID, force: Bool, now: Date, leasedUntil: Date) async throws -> ChannelTask? {
        try await leasing(
            Self.move(
                """
                c.id = \(id) and (\(force) or c.state = 'retiring' or not exists (
                    select from events where key = c.event_key and ended_at is null and cancelled_at is null))
                """, from: [.active, .retiring, .deleting, .missing], to: .deleting, reason: "c.reason",
                leasedUntil: leasedUntil, at: now)
        ).first
    }

    /// Records the outcome of the call to Apple for `task`, with Apple's answer, and ends the lease. If the channel is
    /// active, the lane for its messages gets the channel. If another caller has the lease by now, the outcome changes
    /// nothing, but an ID that Apple issued is never lost.
    ///
    /// - Returns: the channel after the outcome was recorded.
    func record(
        _ outcome: ChannelOutcome, _ answer: Contract.AuditAnswer, of task: ChannelTask, by actor: AuditActor, now: Date
    ) async throws -> Channel {
        let audit = AuditRows(by: actor, at: now, signingKey: task.address.credentials.keyID, answer: answer)
        let (app, reason): (AppEnvironment, PostgresQuery) = (task.address.app, "\(answer.canonicalReason)")
        let isTasks: PostgresQuery = "c.id = \(task.channel.id)"
        // A refusal is logged once for each reason, even if it is repeated.
        let isNews = answer.status != nil && answer.canonicalReason != task.channel.reason
        var consequence: PostgresQuery = "select"
        let (change, entry): (PostgresQuery, (Contract.AuditAction, PostgresQuery)?)
        switch outcome {
        case .created(let channelID):
            (entry, consequence) = ((.channelCreated, "null"), Self.setRoom(app, forOne: false))
            change = Self.move(
                """
                \(Self.hasLease(task)) and not exists (select from channels x
                    where \(AppColumns.isOf(app, row: "x")) and x.channel_id = \(channelID))
                """, from: [.creating], to: .active, also: ", channel_id = \(channelID)", at: now)
        case .unsuccessful(let state, let nextAttemptAt):
            let isCreation = task.channel.state == .creating
            entry = isNews ? (.channelRefused, isCreation ? "'creation'" : "'deletion'") : nil
            change = Self.move(
                isCreation ? Self.hasLease(task) : isTasks, from: [task.channel.state], to: state, reason: reason,
                due: "\(nextAttemptAt)", at: now)
            if answer.canonicalReason == APNsReason.cannotCreateChannelConfig.rawValue {
                consequence = Self.setFull(app, askAgainAt: nextAttemptAt, now: now)
            }
        case .unanswered(let settleableAt):
            entry = (.channelUnanswered, "'creation'")
            // The state and the call stay as they are, so this is no move.
            change = """
                update channels c set reason = \(reason), next_attempt_at = \(settleableAt), changed_at = \(now)
                where \(Self.hasLease(task)) returning c.*
                """
        case .deleted:
            (entry, consequence) = ((.channelDeleted, "\(task.channel.reason)"), Self.setRoom(app, forOne: true))
            change = Self.move(
                isTasks, from: [.deleting], to: .deleted,
                also: ", doubted_at = null, deletion_confirmed = true", at: now)
        }
        let changed = try await database.transaction { [consequence] connection in
            try await Self.lockLanes(of: [task.channel.id], on: connection)
            let changed = try await Self.makeChange(change, entry, audit, on: connection).first
            if case .created(let channelID) = outcome {
                if changed == nil {
                    // The creation was settled without this ID, so nobody uses the channel. It is deleted, unless the
                    // ledger already has a row with this ID.
                    let late = "APNs answered the request for a channel after the server had stopped waiting for it"
                    let row = Self.newRows([(channelID, task.channel.storagePolicy)], of: app)
                    _ = try await Self.makeChange(
                        Self.add(row, as: .deleting, reason: late, due: now, at: now), (.channelAdopted, "\(late)"),
                        audit, on: connection)
                }
                // A list that is being noted may have the channel, too (`witness`).
                try await connection.pipeline([
                    "select from app_environments where \(AppColumns.isOf(app)) for share",
                    Self.forgetting(unmanaged: [channelID], of: app),
                ])
            }
            if changed != nil { try await connection.query(consequence) }
            try await connection.query(WakeUps.notify([.channels]))
            return changed
        }
        if let changed { return changed }
        return try await channel(task.channel.id, of: app) ?? task.channel
    }

    /// Records that the call to Apple for a leased creation begins now.
    ///
    /// - Returns: whether the task still has the lease.
    func beginCall(of task: ChannelTask, now: Date) async throws -> Bool {
        let rows = try await database.query(
            "update channels c set called_at = \(now) where \(Self.hasLease(task)) returning c.id")
        return !rows.isEmpty
    }

    /// Extends the lease of a task until `until`. Nothing happens if another caller has the lease by now, or if the
    /// outcome was recorded and the next call is later.
    func extendLease(of task: ChannelTask, until: Date) async throws {
        try await database.query(
            """
            update channels set next_attempt_at = \(until)
            where id = \(task.channel.id) and state = \(task.channel.state.rawValue)::text::channel_state
                and attempts = \(task.channel.attempts) and next_attempt_at < \(until)
            """)
    }

    /// The row of the task, if the task still has its lease. A task without its lease may not record the outcome of its
    /// creation.
    private static func hasLease(_ task: ChannelTask) -> PostgresQuery {
        """
        c.id = \(task.channel.id) and c.state = 'creating' and c.called_at is not null
            and c.attempts = \(task.channel.attempts)
        """
    }

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
        try await LaneRows.change(lanes, at: now, on: connection) { lane in
            if lane.channel?.id != target.id { lane.disconnect(at: now) }
            lane.connect(target)
        }
        try await connection.pipeline([
            StartStore.restart(eventKey), StartStore.makeDue(eventKey, now: now),
            WakeUps.notify([.lanes(channel.environment), .starts]),
        ])
    }

    /// Takes channels that no longer exist away from their lanes.
    ///
    /// - Parameter refusals: the reasons with which APNs refused messages to them, by channel.
    static func disconnectLanes(
        from channels: [UUID], refusals: [UUID: String], now: Date, on connection: PostgresConnection
    ) async throws {
        let lanes: PostgresQuery = "(array(select lane from audiences where channel = any(\(channels))))"
        try await LaneRows.change(lanes, at: now, on: connection) { lane in
            lane.disconnect(refusal: lane.channel.flatMap { refusals[$0.id] }, at: now)
        }
    }

    /// Locks every lane that has one of these channels or will have one, in the order of IDs. Call this before any
    /// change of the channels, because all transactions lock lanes before channels.
    static func lockLanes(of channels: [UUID], on connection: PostgresConnection) async throws {
        guard !channels.isEmpty else { return }
        try await connection.query(
            LaneRows.lock(
                """
                array(select lane from audiences where channel = any(\(channels))
                    union select u.lane from (select * from channels where id = any(\(channels)) offset 0) c
                    cross join lateral (select * from audiences where event_key = c.event_key offset 0) u
                    where \(AudienceColumns.serves("c", "u")))
                """))
    }

    /// Deletes channels from the list of unmanaged channels, because the ledger has them now.
    static func forgetting(unmanaged channelIDs: [String], of app: AppEnvironment) -> PostgresQuery {
        """
        delete from unmanaged_channels where \(AppColumns.isOf(app)) and channel_id = any(\(channelIDs))
        """
    }
}
