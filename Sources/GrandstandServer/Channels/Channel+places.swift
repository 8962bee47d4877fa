internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The places of the quota: who may take one, and which channel gives one up.
extension ChannelStore {
    /// Which places a channel `c` with its event `e` may take from events that are over: 2 also those that are kept
    /// (`isKept`), 1 the others, 0 none. A channel without an event counts as one whose event may start at any time.
    static func urgency(now: Date) -> PostgresQuery {
        """
        case \(EventStore.state(now: now)) when 'live' then 2 when 'scheduled' then coalesce(
            (e.starts_at <= \(now + ChannelTenure.neededBefore))::integer, 1) else 0 end
        """
    }

    /// The SQL order by need, for channels `c` with their events `e`. The first criterion is the urgency, because a
    /// place that an urgent event took from another event must not go to a third one. The second criterion is the time
    /// at which the channel is needed: the event's opening, otherwise the kick-off, otherwise the declaration. The next
    /// criteria are the kick-off and the declaration.
    static func needOrder(now: Date) -> PostgresQuery {
        """
        \(urgency(now: now)) desc, coalesce(e.channels_open_at, e.starts_at, e.created_at, c.created_at), e.starts_at,
        coalesce(e.created_at, c.created_at), c.id
        """
    }

    /// Whether a channel is retiring and no device needs it. Such a channel is kept only because of
    /// `GRANDSTAND_RETIRE_AFTER`.
    static func isIdle(now: Date) -> PostgresQuery {
        "state = 'retiring' and (needed_until is null or needed_until <= \(now))"
    }

    /// Whether an idle channel keeps its place unless a live event waits (`ChannelTenure.keptAfterEnd`). The time counts
    /// from the end of its event, or from the channel's retirement if the event is not over or was removed.
    static func isKept(now: Date) -> PostgresQuery {
        """
        (coalesce((select coalesce(ended_at, cancelled_at) from events where key = event_key), changed_at)
            > \(now - ChannelTenure.keptAfterEnd))
        """
    }

    /// The reasons of channels that no place is left for, in the app's limit or at Apple.
    static let whyNoRoom: PostgresQuery = "('quota-exhausted', \(APNsReason.cannotCreateChannelConfig.rawValue))"

    /// Whether a failed channel `c` waits for a place.
    private static let waitsForPlace: PostgresQuery =
        "c.state = 'failed' and c.next_attempt_at is not null and c.reason in \(whyNoRoom)"

    /// Whether a failed channel `c` may try again. A channel that waits for a place may try at any time, because
    /// otherwise a later channel could take the place first.
    private static func mayTryAgain(now: Date) -> PostgresQuery {
        "(c.state = 'failed' and c.next_attempt_at <= \(now) or \(waitsForPlace))"
    }

    /// Takes the same locks as `reserve`, in a fixed order, so that the count of channels in `admit` stays true until
    /// the commit.
    static func lockQuotas(now: Date) -> PostgresQuery {
        """
        select from app_environments ae where (ae.bundle_id, ae.environment) in (
            select c.bundle_id, c.environment from channels c where \(mayTryAgain(now: now)))
        order by ae.bundle_id, ae.environment for no key update
        """
    }

    /// The number of free places in the quota of an app `a` with its environment `ae`.
    static let freePlaces: PostgresQuery = """
        least(a.channel_limit, \(APNsLimits.channels) - (
            select count(*) from unmanaged_channels u
            where u.bundle_id = a.bundle_id and u.environment = ae.environment)) - (
        select count(*) from channels c where c.bundle_id = a.bundle_id and c.environment = ae.environment
            and c.state in \(Channel.State.sql(.countsAgainstQuota)))
        """

    /// Lets as many failed channels try again as the quota has room for, in the order `needOrder`. If Apple refused the
    /// last creation because Apple has no place left, only the first channel tries again, at the time `full_until`,
    /// because all channels would get the same answer. A channel that tries again loses the reason `quota-exhausted`,
    /// because it no longer waits for the quota. For each place that an urgent event lacks, one idle channel is deleted
    /// immediately. The place of the idle channel becomes free when Apple has confirmed the deletion. The confirmation
    /// wakes the next alignment, which assigns the places. A creation that gets no place waits for twenty seconds.
    static func admit(now: Date) -> PostgresQuery {
        """
        with due as materialized (
            select c.id, c.bundle_id, c.environment, \(urgency(now: now)) as urgency,
                row_number() over (partition by c.bundle_id, c.environment order by \(needOrder(now: now))) as place
            from channels c left join lateral \(event) on true where \(mayTryAgain(now: now))
        ), room as materialized (
            -- Counted once for each app and environment, not for each channel.
            select w.*, (
                select count(*) from channels c where c.bundle_id = w.bundle_id and c.environment = w.environment
                    and c.state = 'deleting' and c.attempts <= 3) as leaving,
                -- While a confirmed deletion is newer than Apple's refusal, its place is given before another is freed.
                case when ae.full_since is null or \(freePlaces) <= 0 then \(freePlaces)
                    when ae.full_until > \(now) then 0 else w.urgent end as free,
                case when ae.full_since is null then \(freePlaces)
                    when ae.full_until > \(now) or exists (select from channels c where c.bundle_id = w.bundle_id
                        and c.environment = w.environment and c.state = 'creating') then 0
                    else least(\(freePlaces), 1) end as turns
            from (select bundle_id, environment, count(*) filter (where urgency = 2) as live,
                    count(*) filter (where urgency > 0) as urgent from due group by bundle_id, environment) w
            join apps a on a.bundle_id = w.bundle_id
            join app_environments ae on ae.bundle_id = w.bundle_id and ae.environment = w.environment
        ), judged as (
            select due.id, place <= turns as goes from due join room using (bundle_id, environment)
        ), spared as (
            \(move("""
                c.id = any(array(
                    select i.id from room l cross join lateral (
                        select id, \(isKept(now: now)) as is_kept,
                            row_number() over (order by \(isKept(now: now)), next_attempt_at, id) as turn
                        from channels where bundle_id = l.bundle_id and environment = l.environment
                            and \(isIdle(now: now))) i
                    where i.turn <= l.live - l.free - l.leaving
                        or i.turn <= l.urgent - l.free - l.leaving and not i.is_kept))
                """, from: [.retiring], to: .deleting, reason: "'its place was needed'", due: "\(now)", at: now))
        )
        \(move(
            "c.id = j.id and c.id = any(array(select id from due)) and (j.goes or c.next_attempt_at <= \(now))",
            with: "judged j", from: [.failed], to: .failed, or: (.creating, if: "j.goes"),
            reason: "nullif(c.reason, case when j.goes then 'quota-exhausted' end)", due: """
                \(now) + make_interval(secs => case when j.goes then 0 else 20 end)
                """, at: now))
        """
    }

    /// Leases one idle channel for deletion before its planned time, because an operator needs its place.
    func claimIdle(_ app: AppEnvironment, now: Date, leasedUntil: Date) async throws -> ChannelTask? {
        try await leasing(
            Self.move(
                """
                c.id in (
                    select id from channels
                    where bundle_id = (select bundle_id from apps where topic = \(app.bundleID.topic))
                        and environment = \(app.environment.rawValue)::environment and \(Self.isIdle(now: now))
                        and not \(Self.isKept(now: now))
                    order by next_attempt_at, id limit 1 for update skip locked)
                """, from: [.retiring], to: .deleting, reason: "'its place was needed'", leasedUntil: leasedUntil,
                at: now)
        ).first
    }

    /// Makes the app's creations that wait for their next attempt due now.
    static func hasten(_ app: AppEnvironment, now: Date) -> [PostgresQuery] {
        [
            """
            update channels c set next_attempt_at = \(now)
            where \(AppColumns.isOf(app, row: "c")) and c.state in \(Channel.State.sql(.intents)) and c.called_at is null
                and c.next_attempt_at > \(now)
            """,
            "update app_environments set full_until = null where \(AppColumns.isOf(app))",
            WakeUps.notify([.channels]),
        ]
    }

    /// Records that Apple has no place left.
    ///
    /// - Parameter askAgainAt: when a creation is tried again; `nil`: an API call waits for the refused creation, so it
    ///   is not tried again.
    static func setFull(_ app: AppEnvironment, askAgainAt: Date?, now: Date) -> PostgresQuery {
        """
        update app_environments set full_since = coalesce(full_since, \(now)),
            full_until = greatest(full_until, \(askAgainAt)) where \(AppColumns.isOf(app))
        """
    }

    /// Records that Apple has a place: after a creation, all creations that wait for one may go, and after a deletion
    /// only one.
    static func setRoom(_ app: AppEnvironment, forOne: Bool) -> PostgresQuery {
        """
        update app_environments ae set full_until = null, full_since = case when \(forOne) and exists (
            select from channels c where \(AppColumns.isOf(app, row: "c")) and \(waitsForPlace)) then full_since end
        where \(AppColumns.isOf(app, row: "ae")) and full_since is not null
        """
    }

    /// Stores the intent to create a channel, within the app's limit. The caller gets a lease of the channel until
    /// `leasedUntil`.
    ///
    /// - Returns: `nil`: no place is left.
    /// - Throws: `app-not-found`.
    func reserve(
        _ draft: Contract.ChannelDraft, for app: AppEnvironment, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask? {
        try await database.transaction { connection in
            let row = try await Self.lock(app, on: connection)
            let address: APNsAddress = try row.read()
            // Counted by a statement that begins after the lock, so it sees what earlier holders of the lock added.
            let room = try await connection.query(
                """
                select \(Self.freePlaces) as places from app_environments ae join apps a using (bundle_id)
                where \(AppColumns.isOf(address.app, row: "ae"))
                """)
            guard try room[0].decode(Int.self, "places") > 0 else { return nil }
            let added = Self.add(
                Self.newRows([(nil, try StoragePolicy(draft.storagePolicy))], of: address.app, label: draft.label),
                as: .creating, leasedUntil: leasedUntil, at: now)
            let channel = try await Self.makeChange(added, nil, AuditRows(by: .server, at: now), on: connection)[0]
            try await IdempotentRequest.current?.record(channel.id, on: connection)
            return ChannelTask(channel: channel, address: address, listAskedAt: try row.decode("apple_asked_at"))
        }
    }

    /// Locks the app's quota until the commit. This makes the limit exact: every reservation of this app and environment
    /// waits for the lock. Declarations do not, whose rows only refer to it.
    ///
    /// - Returns: a row with the app's address.
    /// - Throws: `app-not-found`.
    static func lock(_ app: AppEnvironment, on connection: PostgresConnection) async throws -> PostgresRow {
        let rows = try await connection.query(
            """
            select \(addressColumns) from app_environments ae \(addressJoins)
            where \(AppColumns.isOfTopic(app, row: "ae")) and ae.deleting_since is null for no key update of ae
            """)
        guard let row = rows.first else { throw Problem.noApp(app.bundleID) }
        return row
    }
}
