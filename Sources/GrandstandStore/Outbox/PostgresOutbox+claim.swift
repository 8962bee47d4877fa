package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresOutbox {
    package func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery] {
        // In one round trip and one commit; the second statement sees what was committed before the first had its locks.
        try await dispatch.pipeline([Self.lockDue(claim), Self.takeHeads(claim)])[1]
            .map(Self.claimed)
    }

    package func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await dispatch.query(
            """
            with recursive \(Self.appsWithWork(in: environment))
            select min(case when u.is_urgent then
                    (select min(due_at) from lanes where environment = \(environment.rawValue)::environment
                        and bundle_id = a.bundle_id and is_urgent and due_at is not null)
                else (select min(due_at) from lanes where environment = \(environment.rawValue)::environment
                        and bundle_id = a.bundle_id and not is_urgent and due_at is not null) end) as at
            from apps a cross join (values (true), (false)) u(is_urgent) where a.bundle_id is not null
            """
        ).first?.decode(Date?.self, "at")
    }

    package func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws {
        try await dispatch.query(
            """
            update lanes set leased_until = \(leasedUntil), due_at = \(leasedUntil)
            where id in (select id from lanes where id = any(\(lanes)) and leased_by = \(replica)
                order by id for no key update)
            """)
    }

    /// Apps with a lane that wants attention some time, by as many index probes as there are such apps.
    private static func appsWithWork(in environment: APNsEnvironment) -> PostgresQuery {
        """
        apps as (
            (select bundle_id from lanes where environment = \(environment.rawValue)::environment and due_at is not null
            order by bundle_id limit 1)
            union all
            select (select l.bundle_id from lanes l where l.environment = \(environment.rawValue)::environment
                and l.due_at is not null and l.bundle_id > a.bundle_id order by l.bundle_id limit 1)
            from apps a where a.bundle_id is not null
        )
        """
    }

    /// Locks due lanes: an equal share of the room for each app that has any, its urgent ones first. Room that an app
    /// leaves is the next claim's, which follows at once. When apps are more than places, chance decides, not the
    /// alphabet.
    ///
    /// The statement that follows may compare by hashes: it names the rows of every large table it joins.
    ///
    /// Which they are goes from one statement of the transaction to the next in a setting, not through this process.
    private static func lockDue(_ claim: LaneClaim) -> PostgresQuery {
        let now = claim.at
        let environment: PostgresQuery = "\(claim.environment.rawValue)::environment"
        return """
            with recursive \(appsWithWork(in: claim.environment)),
            ready as (
                select a.bundle_id, greatest(1, \(claim.limit) / count(*) over ()) as share from apps a
                where least((select due_at from lanes where environment = \(environment) and bundle_id = a.bundle_id
                        and is_urgent and due_at is not null order by due_at limit 1),
                    (select due_at from lanes where environment = \(environment) and bundle_id = a.bundle_id
                        and not is_urgent and due_at is not null order by due_at limit 1)) <= \(now)
                order by random()
            ), locked as materialized (
            select d.id from ready r cross join lateral (
                select id from (
                    select id from lanes where environment = \(environment) and bundle_id = r.bundle_id
                        and is_urgent and due_at <= \(now)
                    order by due_at limit r.share for no key update skip locked) urgent
                union all
                select id from (
                    select id from lanes where environment = \(environment) and bundle_id = r.bundle_id
                        and not is_urgent and due_at <= \(now)
                    order by due_at limit r.share for no key update skip locked) other
                limit r.share) d
            limit \(claim.limit)
            )
            select set_config('grandstand.lanes', ids::text, true),
                set_config('plan_cache_mode',
                    case when cardinality(ids) >= \(bulk) then \(planCacheMode(isBulk: true))
                        else \(planCacheMode(isBulk: false)) end, true),
                set_config('enable_hashjoin', 'on', true)
            from (select coalesce(array_agg(id), '{}') as ids from locked) l
            """
    }

    /// How far `aps.timestamp` may run ahead of the clock when a lane sends faster than one a second: devices drop what
    /// is more than about eight hours ahead (docs/apns.md section 4). Beyond it the lane waits for the clock.
    static let timestampLead = 3_600

    /// What `lockDue` found.
    private static let lockedLanes: PostgresQuery = "(current_setting('grandstand.lanes')::bigint[])"

    /// One statement for all that were locked: what expired or is not the newest is settled, the head of each lane starts
    /// a request if its channel is there and its time has come, and every lane is leased or, with nothing to send now,
    /// given back until its head may be tried again, or expires, or for good.
    ///
    /// The timestamp is given once, above every earlier one of the lane, and kept on retries. A head left `sending` by a
    /// replica whose lease ended gives way to newer state like any other.
    ///
    /// What becomes of a lane is decided in `due`, row by row, from indexes (`offset 0` keeps it so); what writes it down
    /// looks its rows up by key, and says so twice, so that no plan can come at them otherwise. PostgreSQL takes a list
    /// it has just made for one row long and compared two of them all with all, 30 ms of a claim of 100; and where it
    /// believed that a table was small, it read all of it, for each lane.
    private static func takeHeads(_ claim: LaneClaim) -> PostgresQuery {
        let now = claim.at
        let clock = Int(now.timeIntervalSince1970.rounded(.down))
        return """
            with due as materialized (
                select l.id as lane, l.bundle_id as lane_bundle_id, l.environment as lane_environment, l.storage_policy,
                    l.channel, c.channel_id, h.id, h.broadcast_id, h.attempts + 1 as attempts, h.expires_at,
                    h.next_attempt_at, h.apns_expiration, w.given_up, coalesce(w.is_urgent, false) as is_urgent,
                    h.rings, m.is_stale, m.content_of, m.carries, w.staying[2:] as followers,
                    case when m.is_stale then coalesce(a.priority, case when h.is_end then 10 else 5 end)
                        else h.priority end as priority,
                    case when m.is_first then greatest(\(clock), l.last_timestamp + 1) else h.apns_timestamp end
                        as apns_timestamp,
                    case when m.is_another then gen_random_uuid() else h.apns_request_id end as apns_request_id,
                    coalesce(c.state in ('active', 'retiring')
                        and (h.next_attempt_at is null or h.next_attempt_at <= \(now) or m.is_another)
                        and (not m.is_first or l.last_timestamp < \(clock + timestampLead))
                        and h.id is not null, false) as goes
                from lanes l
                left join lateral (select * from channels where id = l.channel offset 0) c on true
                cross join lateral (
                    select array_agg(id) filter (where not stays) as given_up, min(id) filter (where stays) as head,
                        array_agg(id order by id) filter (where stays) as staying,
                        bool_or(is_end or priority = 10) filter (where stays) as is_urgent
                    from (select d.id, d.is_end, d.priority, d.expires_at > \(now) and (\(rings(now)) or d.is_end
                            or d.id = max(d.id) filter (where d.expires_at > \(now)) over ()) as stays
                        from deliveries d where d.lane = l.id and d.settled_at is null) pending) w
                left join lateral (select d.*, \(rings(now)) as rings from deliveries d where d.id = w.head offset 0) h
                    on true
                \(form)
                where l.id = any(\(lockedLanes))
            ), settled as (
                update deliveries d set settled_at = \(now), next_attempt_at = null,
                    state = case when d.expires_at <= \(now) then 'expired' else 'superseded' end::delivery_state
                where d.id = any(array(select unnest(given_up) from due))
            ), carried as (
                update deliveries d set content_sent = d.content_sent or d.id = p.carries,
                    content_of = case when d.id = p.carries then d.content_of else p.content_of end
                from due p cross join lateral unnest(p.followers) as f(id)
                where p.goes and p.carries is not null and d.id = f.id
                    and d.id = any(array(select unnest(followers) from due where goes and carries is not null))
            ), sent as (
                update deliveries d set state = 'sending', attempts = p.attempts, next_attempt_at = null,
                    channel_id = p.channel_id, apns_timestamp = p.apns_timestamp, apns_request_id = p.apns_request_id,
                    priority = p.priority, content_of = p.content_of, alerting = d.alerting and not p.is_stale,
                    reason = case when p.is_stale then 'the alert was too old to ring' else d.reason end
                from due p where d.id = p.id and p.goes and d.id = any(array(select id from due where goes))
            ), leased as (
                update lanes l set
                    leased_by = case when p.goes then \(claim.replica)::uuid end,
                    leased_until = case when p.goes then \(claim.leasedUntil)::timestamptz end,
                    last_timestamp = case when p.goes then greatest(l.last_timestamp, p.apns_timestamp)
                        else l.last_timestamp end,
                    ready_at = case when p.goes then greatest(l.ready_at, \(now.addingTimeInterval(claim.laneInterval)))
                        else l.ready_at end,
                    is_urgent = p.is_urgent,
                    due_at = case when p.id is null then null
                        when p.goes then \(claim.leasedUntil)::timestamptz
                        when p.next_attempt_at > \(now) then p.next_attempt_at
                        when p.channel is null then p.expires_at
                        when l.last_timestamp >= \(clock + timestampLead)
                            then to_timestamp(l.last_timestamp - \(timestampLead - 1))
                        else least(p.expires_at, \(now) + interval '5 seconds') end
                from due p where l.id = p.lane and l.id = any(\(lockedLanes))
            )
            select p.id, p.lane, p.channel_id, p.attempts, p.priority, p.expires_at, p.apns_timestamp, p.storage_policy,
                p.apns_expiration, p.apns_request_id, b.event, case when p.rings then b.alert end as alert,
                case when o.id is null then b.content_state else o.content_state end as content_state,
                case when o.id is null then b.stale_date else o.stale_date end as stale_date, b.dismissal_date,
                case when o.id is null then b.relevance_score else o.relevance_score end as relevance_score,
                \(destinationColumns)
            from due p cross join lateral (select * from broadcasts where id = p.broadcast_id offset 0) b
            left join lateral (select * from broadcasts where id = p.content_of offset 0) o on true
            join app_environments ae on ae.bundle_id = p.lane_bundle_id and ae.environment = p.lane_environment
            \(destinationJoins)
            where p.goes
            """
    }

    /// In what form the head `h` of a lane goes, `m`:
    ///
    /// - An alert that rings takes the newest content with it, that of `n`, if both fit into one message. So no state waits
    ///   behind an alert, nor behind its retries; `n` goes by itself afterwards. Alerts between the two have that content
    ///   from then on, for an older one must not follow it.
    /// - An alert too old to ring is left out (`is_stale`).
    /// - What an earlier attempt had otherwise makes another message (`is_another`), with a timestamp and a request ID of
    ///   its own: what may have reached APNs is repeated unchanged or followed by a higher timestamp.
    private static let form: PostgresQuery = """
        left join lateral (
            select id, coalesce(content_of, broadcast_id) as content, content_of is null as is_own from deliveries
            where id = w.staying[cardinality(w.staying)] and id > w.head and h.rings and not h.is_end offset 0) n on true
        left join lateral (
            select octet_length(content_state::text) + coalesce(octet_length(relevance_score::text), 0) as size
            from broadcasts where id = n.content offset 0) s on true
        left join lateral (
            select octet_length(alert::text) as size, priority from broadcasts
            where id = h.broadcast_id and (n.id is not null or h.alerting and not h.rings) offset 0) a on true
        cross join lateral (
            select coalesce(h.alerting and not h.rings, false) as is_stale,
                coalesce(s.size + a.size <= \(bytesForContentAndAlert), false) as fits offset 0) f
        cross join lateral (
            select case when f.fits then n.content else h.content_of end as content_of,
                case when f.fits and n.is_own then n.id end as carries offset 0) k
        cross join lateral (
            select h.apns_timestamp is not null
                and (f.is_stale or k.content_of is distinct from h.content_of) as is_another offset 0) o
        cross join lateral (
            select f.is_stale, k.content_of, k.carries, o.is_another,
                h.apns_timestamp is null or o.is_another as is_first offset 0) m
        """

    /// What APNs takes without the names, the numbers and the brackets around content and alert (`BroadcastPayload`).
    private static let bytesForContentAndAlert = APNsLimits.broadcastPayload - 160

    private static func claimed(_ row: PostgresRow) throws -> ClaimedDelivery {
        let channelID: String = try row.decode("channel_id")
        let (storagePolicy, expiresAt): (StoragePolicy, Date) = (
            try row.word("storage_policy"), try row.decode("expires_at")
        )
        return ClaimedDelivery(
            id: try row.decode("id"), lane: try row.decode("lane"), address: try PostgresChannelStore.address(row),
            storagePolicy: storagePolicy,
            message: BroadcastMessage(
                channelID: channelID, body: try row.payload().body(timestamp: try row.decode("apns_timestamp")),
                priority: try row.priority("priority"),
                expiration: expiration(
                    try row.decode("apns_expiration"), storagePolicy, expiresAt: expiresAt,
                    wantsExpiration: try row.decode("wants_expiration")),
                requestID: try row.decode("apns_request_id")),
            attempts: try row.decode("attempts"), expiresAt: expiresAt)
    }

    /// Where to and with which key, and what this app's APNs is known to want, for rows that join `app_environments ae`.
    static let destinationColumns: PostgresQuery = """
        \(PostgresChannelStore.addressColumns), coalesce(x.value = 'nonzero', false) as wants_expiration
        """

    static let destinationJoins: PostgresQuery = """
        \(PostgresChannelStore.addressJoins)
        left join quirks x on x.bundle_id = ae.bundle_id and x.environment = ae.environment
            and x.name = 'unstored-expiration'
        """

    /// The header as this app's APNs wants it: where it was seen to refuse 0 for a channel that stores nothing
    /// (docs/apns.md C4), the deadline.
    static func expiration(
        _ planned: Int, _ policy: StoragePolicy, expiresAt: Date, wantsExpiration: Bool
    ) -> Int {
        guard policy == .noMessageStored, planned == 0, wantsExpiration else { return planned }
        return Int(expiresAt.timeIntervalSince1970.rounded(.up))
    }
}
