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
    /// Leases channels for which a call to Apple is due: creations, retirements whose time has come, deletions. A
    /// creation with an unknown outcome is never claimed again. A reconciliation finds out whether the channel exists.
    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask] {
        try await database.query(
            Self.leasing(
                """
                due as (
                    select id from channels
                    where next_attempt_at <= \(now) and state in \(Channel.State.sql(.awaitsCall))
                        and called_at is null and (leased_until is null or leased_until < \(now))
                    order by next_attempt_at limit \(limit) for update skip locked
                )
                """,
                Self.move(
                    "c.id = due.id", with: "due", from: .awaitsCall, to: .deleting,
                    or: (.creating, if: "c.state = 'creating'"), reason: "c.reason",
                    due: """
                        case c.state when 'creating' then \(leasedUntil)::timestamptz else c.next_attempt_at end
                        """, leasedUntil: leasedUntil,
                    calledAt: "case c.state when 'creating' then \(now)::timestamptz end",
                    also: ", attempts = c.attempts + 1", at: now))
        ).map(Self.task)
    }

    /// When the next channel is due; `nil`: none waits.
    func nextDue(now: Date) async throws -> Date? {
        try await database.query(
            """
            select least(
                (select min(greatest(next_attempt_at, coalesce(leased_until, next_attempt_at))) from channels
                    where next_attempt_at is not null and called_at is null),
                (select min(channels_open_at) from events
                    where channels_open_at > \(now) and ended_at is null and cancelled_at is null)) as at
            """
        ).first?.decode(Date?.self, "at")
    }

    /// Leases one channel for deletion; `nil`: it is deleted already.
    ///
    /// - Throws: `channel-not-found`; `channel-in-use` if a live event needs the channel and `force` is false.
    func beginDeletion(
        _ id: UUID, of app: AppEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask? {
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                select \(Self.columns), \(Self.addressColumns), e.key is not null as needed
                from channels c
                join app_environments ae on ae.bundle_id = c.bundle_id and ae.environment = c.environment
                \(Self.addressJoins)
                left join events e on e.key = c.event_key and e.ended_at is null and e.cancelled_at is null
                where c.id = \(id) and \(AppColumns.isNamed(app, row: "c")) for update of c
                """)
            guard let row = rows.first else {
                throw Problem(
                    .channelNotFound, "\(app.bundleID) has no channel \(id.words) in \(app.environment.rawValue).")
            }
            var task = try Self.task(row)
            if task.channel.state == .deleted { return nil }
            if try row.decode(Bool.self, "needed"), !force, task.channel.state != .retiring {
                throw Problem(
                    .channelInUse,
                    "The event \(task.channel.eventKey?.rawValue ?? "") still needs this channel. "
                        + "End or delete the event, or repeat with ?force=true; the event then gets a new channel.")
            }
            guard task.channel.channelID != nil else {
                throw Problem(
                    .channelInUse, "The channel is still being created. Try again once its state is active.",
                    retryAfter: 5)
            }
            try await connection.query(
                Self.move(
                    "c.id = \(id)", from: [.active, .retiring, .deleting, .missing], to: .deleting, reason: "c.reason",
                    due: "\(leasedUntil)", leasedUntil: leasedUntil, also: ", attempts = c.attempts + 1", at: now))
            task.channel.state = .deleting
            return task
        }
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
        var isNews: PostgresQuery = "\(answer.status != nil && answer.canonicalReason != task.channel.reason)"
        var consequence: PostgresQuery = "select"
        let (change, entry): (PostgresQuery, (Contract.AuditAction, PostgresQuery))
        switch outcome {
        case .created(let channelID):
            (entry, isNews, consequence) = ((.channelCreated, "null"), "true", Self.hasRoom(app))
            change = Self.move(
                """
                \(Self.isStill(task)) and not exists (select from channels x
                    where \(AppColumns.isOf(app, row: "x")) and x.channel_id = \(channelID))
                """, from: [.creating], to: .active, also: ", channel_id = \(channelID), attempts = 0", at: now)
        case .notCreated(let state, let nextAttemptAt):
            entry = (.channelRefused, "'creation'")
            change = Self.move(
                Self.isStill(task), from: [.creating], to: state, reason: reason, due: "\(nextAttemptAt)", at: now)
            if answer.canonicalReason == APNsReason.cannotCreateChannelConfig.rawValue {
                consequence = Self.isFull(app, askAgainAt: nextAttemptAt, now: now)
            }
        case .unanswered(let settleableAt):
            (entry, isNews) = ((.channelUnanswered, "'creation'"), "true")
            change = Self.move(
                Self.isStill(task), from: [.creating], to: .creating, reason: reason, due: "\(settleableAt)",
                calledAt: "c.called_at", at: now)
        case .deleted:
            (entry, isNews, consequence) = ((.channelDeleted, "\(task.channel.reason)"), "true", Self.freed(app))
            change = Self.move(
                isTasks, from: [.deleting], to: .deleted,
                also: ", doubted_at = null, examine_at = null, deletion_confirmed = true", at: now)
        case .notDeleted(let nextAttemptAt):
            entry = (.channelRefused, "'deletion'")
            change = Self.move(
                isTasks, from: [.deleting], to: .deleting, reason: reason, due: "\(nextAttemptAt)", at: now)
        }
        return try await database.transaction { [isNews, consequence] connection in
            try await Self.lockLanes(of: [task.channel.id], on: connection)
            let changed = try await Self.make(change, entry, onlyIf: isNews, audit, on: connection).first
            if case .created(let channelID) = outcome {
                if changed == nil {
                    // The creation was settled without this ID, so nobody uses the channel. It is deleted, unless the
                    // ledger already has a row with this ID.
                    let late = "APNs answered the request for a channel after the server had stopped waiting for it"
                    let rows = Self.rows([(channelID, task.channel.storagePolicy)], of: app)
                    _ = try await Self.make(
                        Self.add(rows, as: .deleting, reason: late, due: now, at: now), (.channelAdopted, "\(late)"),
                        audit, on: connection)
                }
                // A list that is being noted may have the channel, too (`witness`).
                try await connection.pipeline([
                    "select from app_environments where \(AppColumns.isOf(app)) for key share",
                    Self.forgetting(unmanaged: [channelID], of: app),
                ])
            }
            if changed != nil { try await connection.query(consequence) }
            try await connection.query(WakeUps.wake([.channels]))
            if let changed { return changed }
            let present = try await connection.query("select \(Self.columns) from channels c where \(isTasks)")
            guard let row = present.first else {
                throw Problem(.channelNotFound, "There is no channel \(task.channel.id).")
            }
            return try row.read()
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
        let isLeased: PostgresQuery =
            task.channel.state == .creating ? Self.isStill(task) : "c.id = \(task.channel.id) and c.state = 'deleting'"
        try await database.query(
            """
            update channels c set leased_until = \(until), next_attempt_at = \(until)
            where \(isLeased) and c.leased_until is not null
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
