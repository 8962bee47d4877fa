package import FoundationEssentials
internal import Grandstand
internal import Postgres

extension PostgresChannelStore {
    package func align(now: Date, retireAfter: TimeInterval) async throws -> Int {
        try await database.transaction { connection in
            // One process aligns at a time; the others' turn finds nothing left to do.
            try await connection.query("select pg_advisory_xact_lock(\(Self.alignLock))")
            return try await connection.pipeline([
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

    /// Channels no audience needs any more, once the last message to them is settled. They are kept while a device may still need them: until what APNs stores
    /// has expired and the dismissal date has passed, `retireAfter` at least (apns-contract section 8).
    private static func retire(now: Date, retireAfter: TimeInterval) -> PostgresQuery {
        """
        update channels c set state = 'retiring', changed_at = \(now), next_attempt_at = t.retire_at,
            retire_at = t.retire_at, attempts = 0, reason = null
        from (
            select c.id, greatest(
                coalesce(e.ended_at, e.cancelled_at, \(now)) + make_interval(secs => \(retireAfter)),
                (select greatest(max(d.expires_at) filter (where d.apns_expiration > 0),
                        to_timestamp(max(b.dismissal_date)))
                    from lanes l join deliveries d on d.lane = l.id join broadcasts b on b.id = d.broadcast_id
                    where l.channel = c.id and d.state = 'accepted')
            ) as retire_at
            from channels c join events e on e.key = c.event_key
            left join audiences u on u.event_key = c.event_key and u.bundle_id = c.bundle_id
                and u.environment = c.environment and u.storage_policy = c.storage_policy
            where c.state = 'active' and (\(isOver) or u.event_key is null)
                and not exists (select from lanes l join deliveries d on d.lane = l.id
                    where l.channel = c.id and d.state in ('waiting', 'queued', 'sending'))
        ) t where c.id = t.id
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

    /// Intents nobody needs any more and no call is under way for.
    private static func dropIntents(now: Date) -> PostgresQuery {
        """
        update channels c set state = 'deleted', changed_at = \(now), next_attempt_at = null,
            reason = 'no longer needed before it was created'
        from events e, channels c2
        left join audiences u on u.event_key = c2.event_key and u.bundle_id = c2.bundle_id
            and u.environment = c2.environment and u.storage_policy = c2.storage_policy
        where c2.id = c.id and e.key = c.event_key and c.state in ('creating', 'failed')
            and (c.leased_until is null or c.leased_until < \(now))
            and (u.event_key is null or \(isOver) and not exists (
                select from deliveries d where d.lane = u.lane and d.state in ('waiting', 'queued', 'sending')))
        """
    }

    /// Audiences whose time has come and that have no channel get a row; `admit` decides whether the quota allows it.
    private static func declare(now: Date) -> PostgresQuery {
        """
        insert into channels (id, bundle_id, environment, storage_policy, state, event_key, reason, next_attempt_at,
            created_at, changed_at)
        select gen_random_uuid(), u.bundle_id, u.environment, u.storage_policy, 'failed', u.event_key,
            'quota-exhausted', \(now), \(now), \(now)
        from audiences u join events e on e.key = u.event_key
        where (not \(isOver) or exists (
                select from deliveries d where d.lane = u.lane and d.state in ('waiting', 'queued', 'sending')))
            and (e.channels_open_at is null or e.channels_open_at <= \(now))
            and not exists (
                select from channels c where c.event_key = u.event_key and c.bundle_id = u.bundle_id
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
        ), room as (
            select a.bundle_id, ae.environment, a.channel_limit - (
                select count(*) from channels c where c.bundle_id = a.bundle_id and c.environment = ae.environment
                    and c.state in \(counting)) as places
            from apps a join app_environments ae using (bundle_id)
            where (a.bundle_id, ae.environment) in (select bundle_id, environment from due)
        )
        update channels c set
            state = case when due.place <= room.places then 'creating' else 'failed' end::channel_state,
            reason = case when due.place <= room.places then c.reason else 'quota-exhausted' end,
            next_attempt_at = case when due.place <= room.places then \(now)
                else \(now) + interval '30 seconds' end,
            changed_at = \(now)
        from due join room using (bundle_id, environment)
        where c.id = due.id and (due.place <= room.places or c.next_attempt_at <= \(now))
        """
    }
}
