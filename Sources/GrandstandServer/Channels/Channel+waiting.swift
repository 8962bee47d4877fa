internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Creations that wait for their next attempt, or for a free place at Apple.
extension ChannelStore {
    /// Makes the app's creations that wait for their next attempt due now.
    ///
    /// - Parameter reason: only creations that Apple refused with this reason become due; `nil`: all become due.
    static func hasten(_ app: AppEnvironment, refusedWith reason: String? = nil, now: Date) -> [PostgresQuery] {
        [
            """
            update channels c set next_attempt_at = \(now)
            where \(AppColumns.isOf(app, row: "c")) and c.state in \(Channel.State.sql(.isIntent)) and c.called_at is null
                and c.next_attempt_at > \(now) and (\(reason)::text is null or c.reason = \(reason))
            """,
            "select pg_notify(\(WakeTopic.channels.rawValue), '')",
        ]
    }

    /// A creation `c` that Apple refused because it has no place left, or that waits because Apple refused another
    /// creation for this reason.
    private static func waitsForPlace(_ app: AppEnvironment) -> PostgresQuery {
        """
        \(AppColumns.isOf(app, row: "c")) and c.state = 'failed'
            and c.reason = \(APNsReason.cannotCreateChannelConfig.rawValue) and c.next_attempt_at is not null
        """
    }

    /// Records that Apple has no place left. Other creations that wait are tried no earlier than the creation that was
    /// refused.
    ///
    /// - Parameter askAgainAt: when the refused creation is tried again; `nil`: never. A creation that an API call
    ///   waits for is not tried again.
    static func isFull(_ app: AppEnvironment, askAgainAt: Date?, now: Date) -> [PostgresQuery] {
        [
            """
            update app_environments ae set full_since = \(now)
            where \(AppColumns.isOf(app, row: "ae")) and ae.full_since is null
            """,
            """
            update channels c set next_attempt_at = greatest(c.next_attempt_at, \(askAgainAt))
            where \(waitsForPlace(app)) and c.next_attempt_at < \(askAgainAt)
            """,
        ]
    }

    /// Records that Apple created a channel. If Apple had no place before, all creations that wait for one are due now.
    static func hasRoom(_ app: AppEnvironment, now: Date) -> PostgresQuery {
        """
        with had as (
            update app_environments ae set full_since = null
            where \(AppColumns.isOf(app, row: "ae")) and ae.full_since is not null returning ae.bundle_id
        )
        update channels c set next_attempt_at = \(now)
        where exists (select from had) and \(waitsForPlace(app)) and c.next_attempt_at > \(now)
        """
    }

    /// Records, after a deletion, that Apple has a place again, if no creation waits for it.
    static func clearFullIfNobodyWaits(_ app: AppEnvironment) -> PostgresQuery {
        """
        update app_environments ae set full_since = null
        where \(AppColumns.isOf(app, row: "ae")) and ae.full_since is not null
            and not exists (select from channels c where \(waitsForPlace(app)))
        """
    }

    /// Makes one creation due now, because a place became free: the most needed of those that Apple or the limit
    /// refused for lack of a place.
    static func makingRoom(_ app: AppEnvironment, now: Date) -> PostgresQuery {
        """
        update channels set next_attempt_at = least(next_attempt_at, \(now)) where id = (
            select c.id from channels c left join lateral \(event) on true
            where \(AppColumns.isOf(app, row: "c")) and c.state = 'failed'
                and c.reason in (\(APNsReason.cannotCreateChannelConfig.rawValue), 'quota-exhausted')
                and c.next_attempt_at is not null
            order by \(need(now: now)) limit 1)
        """
    }

    /// Leases one retiring channel for deletion before its planned time, because the app has as many channels as its
    /// limit or Apple allows: one that no device needs any longer, and whose place the creation may take
    /// (`ChannelTenure`). Channels with the earliest planned time go first.
    ///
    /// - Parameter creation: the channel that needs the place; `nil`: one that an operator creates now.
    func reclaim(
        _ app: AppEnvironment, for creation: UUID?, now: Date, leasedUntil: Date
    ) async throws -> [ChannelTask] {
        try await database.query(
            Self.leasing(
                """
                needed as materialized (
                    select coalesce((
                        select \(Self.urgency(now: now)) from channels c left join lateral \(Self.event) on true
                        where c.id = \(creation)), 1) as urgency
                )
                """,
                Self.move(
                    """
                    c.id in (
                        select id from channels
                        where bundle_id = (select bundle_id from apps where topic = \(app.bundleID.topic))
                            and environment = \(app.environment.rawValue)::environment and \(Self.isIdle(now: now))
                            and (select urgency from needed) > \(Self.isKept(now: now))::integer
                        order by \(Self.isKept(now: now)), retire_at, id limit 1 for update skip locked)
                    """, from: [.retiring], to: .deleting, reason: Self.placeNeeded, due: "\(leasedUntil)",
                    leasedUntil: leasedUntil, also: ", attempts = c.attempts + 1", at: now))
        ).map(Self.task)
    }
}
