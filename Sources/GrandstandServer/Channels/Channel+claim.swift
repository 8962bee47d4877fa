internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension ChannelStore {
    /// Leases channels for which a call to Apple is due: creations, retirements whose time has come, deletions. A
    /// creation with an unknown outcome is never claimed again. A reconciliation finds out whether the channel exists
    /// (`ReconciliationStore`).
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
                    "c.id = due.id", with: "due", from: Channel.State.having(.awaitsCall), to: .deleting,
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
}
