package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresOutbox {
    package func claim(_ claim: LaneClaim, now: Date) async throws -> [ClaimedDelivery] {
        try await database.transaction { connection in
            let due = try await connection.query(Self.lockDue(claim, now: now))
            let lanes: [Int] = try due.map { try $0.decode("id") }
            guard !lanes.isEmpty else { return [] }
            // A statement of its own: it sees what was committed before the lanes were locked.
            return try await connection.query(Self.takeHeads(of: lanes, claim, now: now)).map(Self.claimed)
        }
    }

    package func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await database.query(
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
        try await database.query(
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
    private static func lockDue(_ claim: LaneClaim, now: Date) -> PostgresQuery {
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
            )
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
            """
    }

    /// How far `aps.timestamp` may run ahead of the clock when a lane sends faster than one a second: devices drop what
    /// is more than about eight hours ahead (apns-contract 3.4). Beyond it the lane waits for the clock.
    private static let timestampLead = 3_600

    /// One statement for all: what expired or is not the newest is settled, the head of each lane starts a request if
    /// its channel is there and its time has come, and every lane is leased or, with nothing to send now, given back
    /// until its head may be tried again, or expires, or for good.
    ///
    /// The timestamp is given once, above every earlier one of the lane, and kept on retries. A head left `sending` by a
    /// replica whose lease ended gives way to newer state like any other.
    private static func takeHeads(of lanes: [Int], _ claim: LaneClaim, now: Date) -> PostgresQuery {
        let clock = Int(now.timeIntervalSince1970.rounded(.down))
        return """
            with pending as materialized (
                select d.id, d.lane, d.is_end or d.priority = 10 as is_urgent, d.expires_at, d.next_attempt_at,
                    d.apns_timestamp, d.expires_at <= \(now) as is_expired,
                    d.alerting or d.is_end or d.id = max(d.id) filter (where d.expires_at > \(now)) over lane as stays
                from deliveries d where d.lane = any(\(lanes)) and d.settled_at is null window lane as (partition by d.lane)
            ), settled as (
                update deliveries d set settled_at = \(now), next_attempt_at = null,
                    state = case when p.is_expired then 'expired' else 'superseded' end::delivery_state
                from pending p where d.id = p.id and (p.is_expired or not p.stays)
            ), heads as (
                select distinct on (lane) *, bool_or(is_urgent) over (partition by lane) as is_lane_urgent
                from pending where not is_expired and stays order by lane, id
            ), sent as (
                update deliveries d set state = 'sending', attempts = d.attempts + 1, next_attempt_at = null,
                    channel_id = c.channel_id,
                    apns_timestamp = coalesce(d.apns_timestamp, greatest(\(clock), l.last_timestamp + 1))
                from heads h join lanes l on l.id = h.lane join channels c on c.id = l.channel
                where d.id = h.id and c.state in ('active', 'retiring')
                    and (h.next_attempt_at is null or h.next_attempt_at <= \(now))
                    and (h.apns_timestamp is not null or l.last_timestamp < \(clock + timestampLead))
                returning d.*, l.bundle_id as lane_bundle_id, l.environment as lane_environment, l.storage_policy
            ), leased as (
                update lanes l set
                    leased_by = case when s.id is null then null else \(claim.replica) end,
                    leased_until = case when s.id is null then null else \(claim.leasedUntil)::timestamptz end,
                    last_timestamp = greatest(l.last_timestamp, s.apns_timestamp),
                    ready_at = case when s.id is null then l.ready_at
                        else greatest(l.ready_at, \(now.addingTimeInterval(claim.laneInterval))) end,
                    is_urgent = coalesce(h.is_lane_urgent, false),
                    due_at = case when h.id is null then null
                        when s.id is not null then \(claim.leasedUntil)::timestamptz
                        when h.next_attempt_at > \(now) then h.next_attempt_at
                        when l.channel is null then h.expires_at
                        when l.last_timestamp >= \(clock + timestampLead)
                            then to_timestamp(l.last_timestamp - \(timestampLead - 1))
                        else least(h.expires_at, \(now) + interval '5 seconds') end
                from unnest(\(lanes)) as x(id) left join heads h on h.lane = x.id left join sent s on s.lane = x.id
                where l.id = x.id
            )
            select s.id, s.lane, s.channel_id, s.attempts, s.priority, s.expires_at, s.apns_timestamp, s.storage_policy,
                case when s.storage_policy = 'noMessageStored' and s.apns_expiration = 0 and x.value = 'nonzero'
                    then ceil(extract(epoch from s.expires_at))::bigint else s.apns_expiration end as apns_expiration,
                s.apns_request_id, b.event, b.content_state, b.alert, b.stale_date, b.dismissal_date, b.relevance_score,
                \(PostgresChannelStore.addressColumns)
            from sent s join broadcasts b on b.id = s.broadcast_id
            join app_environments ae on ae.bundle_id = s.lane_bundle_id and ae.environment = s.lane_environment
            \(PostgresChannelStore.addressJoins)
            left join quirks x on x.bundle_id = ae.bundle_id and x.environment = ae.environment
                and x.name = 'unstored-expiration'
            """
    }

    private static func claimed(_ row: PostgresRow) throws -> ClaimedDelivery {
        let channelID: String = try row.decode("channel_id")
        return ClaimedDelivery(
            id: try row.decode("id"), lane: try row.decode("lane"), address: try PostgresChannelStore.address(row),
            storagePolicy: try row.word("storage_policy"),
            message: BroadcastMessage(
                channelID: channelID, body: try row.payload().body(timestamp: try row.decode("apns_timestamp")),
                priority: try row.priority("priority"), expiration: try row.decode("apns_expiration"),
                requestID: try row.decode("apns_request_id")),
            attempts: try row.decode("attempts"), expiresAt: try row.decode("expires_at"))
    }
}
