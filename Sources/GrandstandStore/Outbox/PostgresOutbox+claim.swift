internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresOutbox {
    package func claim(
        now: Date, leasedUntil: Date, replica: UUID, limit: Int, laneInterval: TimeInterval
    ) async throws -> [ClaimedDelivery] {
        try await database.transaction { connection in
            let leased = try await connection.query(
                """
                with due as (
                    select id from lanes where due_at <= \(now)
                    order by due_at limit \(limit) for no key update skip locked
                )
                update lanes l set leased_by = \(replica), leased_until = \(leasedUntil), due_at = \(leasedUntil)
                from due where l.id = due.id returning l.id
                """)
            let lanes: [Int] = try leased.map { try $0.decode("id") }.sorted()
            guard !lanes.isEmpty else { return [] }
            let results = try await connection.pipeline([
                Self.expire(lanes: lanes, now: now),
                // A head left `sending` by a replica whose lease ended gives way to newer state like any other.
                Self.supersede(lanes: lanes, states: Self.pending, now: now),
                Self.takeHeads(lanes: lanes, now: now),
                Self.markSent(lanes: lanes, readyAt: now.addingTimeInterval(laneInterval)),
                Self.rest(lanes: lanes, now: now),
            ])
            return try results[2].map(Self.claimed)
        }
    }

    private static func expire(lanes: [Int], now: Date) -> PostgresQuery {
        """
        update deliveries set state = 'expired', settled_at = \(now), next_attempt_at = null
        where lane = any(\(lanes)) and state in \(pending) and expires_at <= \(now)
        """
    }

    /// The oldest pending delivery of each lane starts a request, if its channel is there and its time has come. The
    /// timestamp is given once, above every earlier one of the lane, and kept on retries.
    private static func takeHeads(lanes: [Int], now: Date) -> PostgresQuery {
        """
        with heads as (
            select distinct on (d.lane) d.id, d.lane, d.next_attempt_at from deliveries d
            where d.lane = any(\(lanes)) and d.state in \(pending) order by d.lane, d.id
        ), sent as (
            update deliveries d set state = 'sending', attempts = d.attempts + 1, next_attempt_at = null,
                channel_id = c.channel_id,
                apns_timestamp = coalesce(d.apns_timestamp,
                    greatest(\(Int(now.timeIntervalSince1970.rounded(.down))), l.last_timestamp + 1))
            from heads h join lanes l on l.id = h.lane join channels c on c.id = l.channel
            where d.id = h.id and c.state in ('active', 'retiring')
                and (h.next_attempt_at is null or h.next_attempt_at <= \(now))
            returning d.*, l.bundle_id as lane_bundle_id, l.environment as lane_environment, l.storage_policy
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

    private static func markSent(lanes: [Int], readyAt: Date) -> PostgresQuery {
        """
        update lanes l set last_timestamp = greatest(l.last_timestamp, d.apns_timestamp), ready_at = \(readyAt)
        from deliveries d where l.id = any(\(lanes)) and d.lane = l.id and d.state = 'sending'
        """
    }

    /// Lanes with nothing to send now are given back: until their head may be tried again, or expires, or for good.
    private static func rest(lanes: [Int], now: Date) -> PostgresQuery {
        """
        update lanes l set leased_by = null, leased_until = null, due_at = (
            select case when h.next_attempt_at > \(now) then h.next_attempt_at
                when l.channel is null then h.expires_at
                else least(h.expires_at, \(now) + interval '5 seconds') end
            from deliveries h where h.lane = l.id and h.state in \(pending) order by h.id limit 1)
        where l.id = any(\(lanes))
            and not exists (select from deliveries d where d.lane = l.id and d.state = 'sending')
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
