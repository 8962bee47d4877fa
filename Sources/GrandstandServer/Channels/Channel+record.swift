internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The outcome of a call to Apple about one channel.
enum ChannelOutcome: Sendable, Hashable {
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

extension ChannelStore {
    /// Records the outcome of the call to Apple for `task`, with Apple's answer, and ends the lease. If the channel is
    /// active, the lane for its messages gets the channel. If another caller has the lease by now, the outcome changes
    /// nothing, but an ID that Apple issued is never lost.
    ///
    /// - Returns: the channel after the outcome was recorded.
    func record(
        _ outcome: ChannelOutcome, _ answer: Contract.AuditAnswer, of task: ChannelTask, by actor: AuditActor, now: Date
    ) async throws -> Channel {
        let audit = AuditRows(by: actor, at: now, signingKey: task.address.credentials.keyID, answer: answer)
        return try await database.transaction { connection in
            try await Self.lockLanes(of: [task.channel.id], on: connection)
            let changed = try await Self.change(outcome, answer, of: task, audit, on: connection)
            let app = task.address.app
            switch outcome {
            case .created(let channelID):
                if changed == nil { try await Self.keepLate(channelID, task, audit, on: connection) }
                try await connection.query(Self.forgetting(unmanaged: [channelID], of: app))
                if changed != nil { try await connection.query(Self.hasRoom(app, now: now)) }
            case .notCreated(_, let nextAttemptAt)
            where changed != nil && answer.canonicalReason == APNsReason.cannotCreateChannelConfig.rawValue:
                try await connection.pipeline(Self.isFull(app, askAgainAt: nextAttemptAt, now: now))
            case .deleted where changed != nil:
                try await connection.pipeline([
                    Self.makingRoom(app, now: now), Self.clearFullIfNobodyWaits(app),
                ])
            case .notCreated, .deleted, .unanswered, .notDeleted: break
            }
            try await connection.query("select pg_notify(\(WakeTopic.channels.rawValue), '')")
            if let changed { return changed }
            let present = try await connection.query(
                "select \(Self.columns) from channels c where c.id = \(task.channel.id)")
            guard let row = present.first else {
                throw Problem(.channelNotFound, "There is no channel \(task.channel.id).")
            }
            return try Self.channel(row)
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

    private static func change(
        _ outcome: ChannelOutcome, _ answer: Contract.AuditAnswer, of task: ChannelTask, _ audit: AuditRows,
        on connection: PostgresConnection
    ) async throws -> Channel? {
        let (now, reason): (Date, PostgresQuery) = (audit.now, "\(answer.canonicalReason)")
        let isDeletion: PostgresQuery = "c.id = \(task.channel.id)"
        // A refusal is logged once for each reason, even if it is repeated.
        var isNews: PostgresQuery = "\(answer.status != nil && answer.canonicalReason != task.channel.reason)"
        let entry: (Contract.AuditAction, PostgresQuery)
        let change: PostgresQuery
        switch outcome {
        case .created(let channelID):
            (entry, isNews) = ((.channelCreated, "null"), "true")
            change = move(
                """
                \(isStill(task)) and not exists (select from channels x
                    where \(AppColumns.isOf(task.address.app, row: "x")) and x.channel_id = \(channelID))
                """, from: [.creating], to: .active, also: ", channel_id = \(channelID), attempts = 0", at: now)
        case .notCreated(let state, let nextAttemptAt):
            entry = (.channelRefused, "'creation'")
            change = move(isStill(task), from: [.creating], to: state, reason: reason, due: "\(nextAttemptAt)", at: now)
        case .unanswered(let settleableAt):
            (entry, isNews) = ((.channelUnanswered, "'creation'"), "true")
            change = move(
                isStill(task), from: [.creating], to: .creating, reason: reason, due: "\(settleableAt)",
                calledAt: "c.called_at", at: now)
        case .deleted:
            (entry, isNews) = ((.channelDeleted, "\(task.channel.reason)"), "true")
            change = move(
                isDeletion, from: [.deleting], to: .deleted,
                also: ", doubted_at = null, examine_at = null, deletion_confirmed = true", at: now)
        case .notDeleted(let nextAttemptAt):
            entry = (.channelRefused, "'deletion'")
            change = move(
                isDeletion, from: [.deleting], to: .deleting, reason: reason, due: "\(nextAttemptAt)", at: now)
        }
        return try await make(change, entry, onlyIf: isNews, audit, on: connection).first
    }

    /// Stores a channel ID that Apple issued to a call whose lease had ended. The creation was settled without this ID,
    /// so nobody uses the channel. The channel is deleted, unless the ledger already has a row with this ID.
    private static func keepLate(
        _ channelID: String, _ task: ChannelTask, _ audit: AuditRows, on connection: PostgresConnection
    ) async throws {
        let rows = rows([(channelID, task.channel.storagePolicy)], of: task.address.app)
        _ = try await make(
            add(rows, as: .deleting, reason: lateReason, due: audit.now, at: audit.now),
            (.channelAdopted, "\(lateReason)"), audit, on: connection)
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
        from channels: [UUID], refusals: [UUID: String], now: Date, on connection: PostgresConnection
    ) async throws {
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
            LaneRows.lock(
                """
                array(select id from lanes where channel = any(\(channels))
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
