internal import APNsWire
package import FoundationEssentials
internal import Grandstand
internal import Postgres

extension PostgresChannelStore {
    package func align(now: Date, retireAfter: TimeInterval) async throws -> Int {
        try await database.transaction { connection in
            // One process aligns at a time; the others' turn finds nothing left to do.
            try await connection.query("select pg_advisory_xact_lock(\(Self.alignLock))")
            return try await connection.pipeline([
                Self.closeOverdue(now: now),
                Self.retire(now: now, retireAfter: retireAfter),
                Self.replaceMissing(now: now),
                Self.dropIntents(now: now),
                Self.declare(now: now),
                Self.lockQuotas(now: now),
                Self.admit(now: now),
            ]).reduce(0) { $0 + $1.affectedRows }
        }
    }

    /// Any constant of ours.
    private static let alignLock = 7_230_518_204_417_734

    /// An event `e` that takes no more broadcasts.
    private static let isOver: PostgresQuery = "(e.ended_at is not null or e.cancelled_at is not null)"

    /// An activity started just before an event's end is shown for twelve hours at most (apns-contract section 4); after
    /// that, an event whose organiser never sent an end and broadcasts nothing is over.
    private static let overdueAfter: TimeInterval = 12 * 3_600

    private static func closeOverdue(now: Date) -> PostgresQuery {
        let limit = now.addingTimeInterval(-overdueAfter)
        let audit = AuditRows(by: .server, at: now)
        return """
            with overdue as (
                update events e set ended_at = \(now), updated_at = \(now)
                where e.ended_at is null and e.cancelled_at is null and e.ends_at <= \(limit)
                    and not exists (select from broadcasts b where b.event_key = e.key
                        and (b.scheduled or b.accepted_at > \(limit)))
                    and not exists (select from audiences u join deliveries d on d.lane = u.lane
                        where u.event_key = e.key and d.settled_at is null)
                returning e.key
            ), fenced as (
                update lanes set fenced_at = coalesce(fenced_at, \(now)) where id in (
                    select l.id from overdue o join audiences u on u.event_key = o.key join lanes l on l.id = u.lane
                    order by l.id for no key update of l)
            )
            \(audit.insert(
                .eventExpired,
                channels: """
                    (select null::text as bundle_id, null::environment as environment, null::uuid as id,
                        null::text as channel_id, key as event_key from overdue) c
                    """, reason: "'no end was sent for twelve hours after endsAt'"))
            """
    }

    /// Channels no audience needs any more, once the last message to them is settled. They are kept while a device may
    /// still need them: until what APNs stores has expired and the dismissal date has passed, `retireAfter` at least
    /// (apns-contract section 8).
    private static func retire(now: Date, retireAfter: TimeInterval) -> PostgresQuery {
        let audit = AuditRows(by: .server, at: now)
        return """
            with retired as (
                update channels c set state = 'retiring', changed_at = \(now), attempts = 0, reason = null,
                    needed_until = t.needed_until, retire_at = greatest(t.kept_until, t.needed_until),
                    next_attempt_at = greatest(t.kept_until, t.needed_until)
                from (
                    select c.id,
                        coalesce(e.ended_at, e.cancelled_at, \(now)) + make_interval(secs => \(retireAfter))
                            as kept_until,
                        (select greatest(max(d.expires_at) filter (where d.apns_expiration > 0),
                                to_timestamp(max(b.dismissal_date)))
                            from lanes l join deliveries d on d.lane = l.id join broadcasts b on b.id = d.broadcast_id
                            where l.channel = c.id and d.state = 'accepted') as needed_until
                    from channels c join events e on e.key = c.event_key
                    left join audiences u on u.event_key = c.event_key and u.bundle_id = c.bundle_id
                        and u.environment = c.environment and u.storage_policy = c.storage_policy
                    where c.state = 'active' and (\(isOver) or u.event_key is null)
                        and not exists (select from lanes l join deliveries d on d.lane = l.id
                            where l.channel = c.id and d.settled_at is null)
                ) t where c.id = t.id returning c.*
            )
            \(audit.insert(
                .channelRetired, channels: "retired c",
                reason: "'kept until ' || to_char(retire_at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"))
            """
    }

    /// A channel Apple lost while its event lives makes room for another.
    private static func replaceMissing(now: Date) -> PostgresQuery {
        """
        update channels c set state = 'deleted', changed_at = \(now), next_attempt_at = null,
            reason = 'APNs no longer had it'
        from events e where e.key = c.event_key and c.state = 'missing'
        """
    }

    /// Intents nobody needs any more, and that were not asked of Apple.
    private static func dropIntents(now: Date) -> PostgresQuery {
        """
        update channels c set state = 'deleted', changed_at = \(now), next_attempt_at = null,
            reason = 'no longer needed before it was created'
        from events e, channels c2
        left join audiences u on u.event_key = c2.event_key and u.bundle_id = c2.bundle_id
            and u.environment = c2.environment and u.storage_policy = c2.storage_policy
        where c2.id = c.id and e.key = c.event_key and c.state in ('creating', 'failed')
            and c.called_at is null and (u.event_key is null or \(isOver) and not exists (
                select from deliveries d where d.lane = u.lane and d.settled_at is null))
        """
    }

    /// Audiences whose time has come and that have no channel get a row; `admit` decides whether the quota allows it.
    /// One that got its end needs none, while its event goes on for others.
    ///
    /// The channels of an event are few and are to be found by its key. `|| ''` keeps the planner from an index by app,
    /// which it takes as long as it knows nothing of a table that just grew: then every audience reads all channels of
    /// its app (26 s while 10,000 events were made).
    private static func declare(now: Date) -> PostgresQuery {
        """
        insert into channels (id, bundle_id, environment, storage_policy, state, event_key, reason, next_attempt_at,
            created_at, changed_at)
        select gen_random_uuid(), u.bundle_id, u.environment, u.storage_policy, 'failed', u.event_key,
            'quota-exhausted', \(now), \(now), \(now)
        from audiences u join events e on e.key = u.event_key
        where (not \(isOver) and exists (select from lanes l where l.id = u.lane and l.fenced_at is null) or exists (
                select from deliveries d where d.lane = u.lane and d.settled_at is null))
            and (e.channels_open_at is null or e.channels_open_at <= \(now))
            and not exists (
                select from channels c where c.event_key = u.event_key and c.bundle_id || '' = u.bundle_id
                    and c.environment = u.environment and c.storage_policy = u.storage_policy
                    and (c.state in ('creating', 'active', 'failed', 'missing') or \(isOver)))
        on conflict do nothing
        """
    }

    /// A failed channel `c` whose time has come. One that waits for the quota may go whenever there is room, or a later
    /// one would take the place first.
    private static func mayTryAgain(now: Date) -> PostgresQuery {
        """
        c.state = 'failed' and (c.next_attempt_at <= \(now)
            or c.reason = 'quota-exhausted' and c.next_attempt_at is not null)
        """
    }

    /// The same locks `reserve` takes, in one order, so that the count below stays true until the commit.
    private static func lockQuotas(now: Date) -> PostgresQuery {
        """
        select from app_environments ae where exists (
            select from channels c where c.bundle_id = ae.bundle_id and c.environment = ae.environment
                and \(mayTryAgain(now: now)))
        order by ae.bundle_id, ae.environment for update
        """
    }

    /// Lets as many failed channels try again as the quota has room for, the earliest first.
    private static func admit(now: Date) -> PostgresQuery {
        """
        with due as (
            select c.id, c.bundle_id, c.environment,
                row_number() over (partition by c.bundle_id, c.environment order by c.created_at, c.id) as place
            from channels c where \(mayTryAgain(now: now))
        ), room as materialized (
            -- Counted once for each app and environment, not for each channel.
            select a.bundle_id, ae.environment, q.probe_at,
                least(a.channel_limit, \(APNsLimits.channels) - (
                    select count(*) from unmanaged_channels u
                    where u.bundle_id = a.bundle_id and u.environment = ae.environment)) - (
                select count(*) from channels c where c.bundle_id = a.bundle_id and c.environment = ae.environment
                    and c.state in \(counting)) as places
            from apps a join app_environments ae using (bundle_id)
            left join lateral (
                select coalesce(q.believed_until, 'infinity') as probe_at from quirks q
                where q.bundle_id = ae.bundle_id and q.environment = ae.environment
                    and q.name = 'broadcast-feature' and q.value = 'off') q on true
            where (a.bundle_id, ae.environment) in (select distinct bundle_id, environment from due)
        ), judged as (
            -- While the capability is off, one creation asks from time to time.
            select due.id, room.probe_at, due.place <= room.places as fits,
                due.place <= room.places and (room.probe_at is null or room.probe_at <= \(now) and due.place = 1)
                    as goes
            from due join room using (bundle_id, environment)
        )
        update channels c set
            state = case when j.goes then 'creating' else 'failed' end::channel_state,
            reason = case when j.goes then c.reason when not j.fits then 'quota-exhausted'
                else \(APNsReason.broadcastFeatureNotEnabled.rawValue) end,
            next_attempt_at = case when j.goes then \(now)
                when j.fits and j.probe_at > \(now) and j.probe_at < 'infinity' then j.probe_at
                else \(now) + interval '30 seconds' end,
            changed_at = \(now)
        from judged j
        where c.id = j.id and (j.goes or j.fits and c.reason = 'quota-exhausted' or c.next_attempt_at <= \(now))
        """
    }
}
