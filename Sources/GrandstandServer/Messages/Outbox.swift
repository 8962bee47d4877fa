internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The durable queue of broadcasts to Apple, in the tables `broadcasts`, `deliveries` and `audiences`. An accepted broadcast is
/// sent, is replaced by newer state, or expires.
///
/// One rule puts all changes of a lane in one order, without counters: a transaction that changes a lane's deliveries
/// locks the lane's row first. A transaction that locks several lanes locks them in order of their IDs. Each statement
/// after the lock sees what other transactions have committed.
struct Outbox: Sendable {
    /// The connections for accepting single broadcasts and for moving scheduled broadcasts to their lanes.
    let database: Database
    /// The connections for accepting many broadcasts in one call, for withdrawing and for reading.
    let bulk: Database
    /// The connections for claims and settlements, so that these never wait behind acceptances.
    let dispatch: Database
    let wakeUps: WakeUps
    let typeCache = ContentTypeCache()
    /// Seconds after which an alert is too old, if its broadcast has no `expiresIn`.
    let alertFreshness: TimeInterval
    /// Collects single broadcasts; `nil` in the outbox that makes a batch durable.
    private(set) var acceptances: Batch<Intake, Result<Contract.Broadcast?, Problem>>?
    private var settlements: Batch<ClaimedDelivery, Bool>?

    /// The maximum number of transactions with single broadcasts at a time. A further transaction begins only if the
    /// last one takes long, for example because it waits for an event that is being changed. At 2,000 broadcasts a
    /// second, the median time from POST to Apple's 200 was 23 to 27 ms with one transaction at a time, and 30 to 32 ms
    /// with always two.
    private static let acceptSlots = 4
    private static let acceptLimit = 100
    /// The maximum number of verdicts in one transaction. It is limited, because the verdicts' lanes can take nothing
    /// else until the transaction is committed.
    private static let settleMax = 200
    /// The rest between two such transactions. In a burst, each of them then has some hundred verdicts.
    private static let settleRest = Duration.milliseconds(10)

    /// - Parameters:
    ///   - database: the connections for single broadcasts.
    ///   - bulk: other connections for calls with many broadcasts, for reading and for withdrawing; `nil`: `database`.
    ///   - dispatch: other connections for claims and settlements; `nil`: `database`.
    ///   - wakeUps: wakes the loops right after a commit; `nil`: those that listen for NOTIFY.
    ///   - alertFreshness: seconds after which an alert is too old, if its broadcast has no `expiresIn`.
    init(
        _ database: Database, bulk: Database? = nil, dispatch: Database? = nil, wakeUps: WakeUps? = nil,
        alertFreshness: TimeInterval = DeliveryPlan.alertFreshness
    ) {
        self.database = database
        self.bulk = bulk ?? database
        self.dispatch = dispatch ?? database
        self.wakeUps = wakeUps ?? WakeUps(self.dispatch)
        self.alertFreshness = alertFreshness
        // This copy has no batches, so a batch does not wait for another.
        let outbox = self
        // After an outage, nobody knows whether the last commit happened, so every item of a batch gets the error.
        acceptances = Batch(slots: Self.acceptSlots, limit: Self.acceptLimit) {
            try await outbox.commit($0, on: outbox.database)
        }
        settlements = Batch(
            limit: Self.settleMax, restAfter: { _ in Self.settleRest }, owner: { $0.address.bundleID }
        ) { deliveries in
            let locked = try await outbox.tryRecord(deliveries)
            return deliveries.map { !locked.contains($0.lane) }
        }
    }

    /// Records what became of a delivery and ends the lease of its lane. Settlements that come at about the same time are
    /// recorded together. If another replica has the lease by now, the settlement changes nothing.
    ///
    /// - Returns: whether the verdict is recorded; `false`: another transaction has locked the lane. This call does not
    ///   wait for the other transaction, so the verdict must be recorded again.
    func settle(_ delivery: ClaimedDelivery) async throws -> Bool {
        guard let settlements else { return try await tryRecord([delivery]).isEmpty }
        return try await settlements.run(delivery)
    }

    /// From this number of rows on, a statement is planned again for each use.
    private static let replanRows = 10

    /// Sets how the rest of the transaction plans its statements.
    ///
    /// Statements with many rows are planned for the tables as they are now. A cached plan may be from a time when the
    /// tables were nearly empty, and when a sequential scan was as fast as an index lookup. With such plans, claims
    /// took 2 s each in the first burst after some quiet updates.
    ///
    /// With few rows, planning takes longer than the statement, so the statement keeps one plan. It is written so that
    /// any plan, even one for empty tables, reads only the rows that the statement needs, by key. To achieve this,
    /// every join with a large table repeats the condition on the key (`and l.id = any(…)`). Otherwise PostgreSQL may
    /// scan the whole table and, with hundreds of rows, compare each row with every other row (a settlement of 9,000
    /// deliveries took a minute).
    static func planning(rows: Int) -> PostgresQuery {
        """
        select set_config('plan_cache_mode', \(rows >= replanRows ? "force_custom_plan" : "force_generic_plan"), true),
            set_config('enable_hashjoin', \(rows >= replanRows ? "on" : "off"), true),
            set_config('enable_mergejoin', 'off', true), set_config('random_page_cost', '1.1', true)
        """
    }

    /// A broadcast with its deliveries within `reach`.
    ///
    /// - Returns: `nil`: there is none within reach.
    func broadcast(_ id: UUID, within reach: AppReach) async throws -> Contract.Broadcast? {
        let rows = try await bulk.query(
            """
            select \(Self.columns) from broadcasts b
            where b.id = \(id) and \(EventReach.covers(reach, broadcast: "b"))
            """)
        return try await withDeliveries(Array(rows), within: reach).first
    }

    /// An event's broadcasts, the newest first, with their deliveries within `reach`; empty for an event out of reach.
    ///
    /// - Parameter isScheduled: whether only those are listed that wait for their `sendAt`, the next one first.
    func broadcasts(
        of key: EventKey, within reach: AppReach, _ page: PageRequest, isScheduled: Bool = false
    ) async throws -> Contract.Page<Contract.Broadcast> {
        let listed: PostgresQuery = isScheduled ? "b.scheduled" : "true"
        return try await bulk.page(
            page, by: isScheduled ? "send_at" : "\"acceptedAt\"", newestFirst: !isScheduled,
            of: """
                select \(Self.columns) from broadcasts b where b.event_key = \(key.rawValue)
                    and \(listed) and \(EventReach.covers(reach, broadcast: "b"))
                """, as: { try await withDeliveries($0, within: reach) })
    }

    /// The columns of `Contract.Broadcast`, without what follows from its deliveries.
    private static let columns: PostgresQuery = """
        b.id, b.event_key as "eventKey", b.event, '' as state, b.accepted_at as "acceptedAt",
        nullif(b.send_at, \(Date.undated) + make_interval(secs => b.send_after_start)) as "sendAt",
        b.send_after_start as "afterStart", b.accepted_by as by, b.withdrawn_by as "withdrawnBy", '{}'::json as counts,
        '[]'::json as deliveries, b.send_at, b.warnings, b.scheduled, b.cancelled,
        case when b.event_key is not null
            then case when b.state_outcome is null then 'broadcast' else 'state' end end as source,
        b.state_outcome as outcome, b.state_rule as rule, \(BroadcastRows.draft(of: "message."))
        """

    /// The broadcast that superseded a delivery `d` of an event's broadcast `b`: the first broadcast after `b` that has
    /// a message for the lane, if this broadcast was accepted before `d` was superseded. A scheduled broadcast that was
    /// accepted before `b` is not found; in this case the result is null.
    private static let successor: PostgresQuery = """
        (select n.id from broadcasts n
        where n.event_key = b.event_key and (n.accepted_at, n.id) > (b.accepted_at, b.id)
            and n.accepted_at <= d.settled_at + interval '1 millisecond'
            and exists (select from deliveries o where o.broadcast_id = n.id and o.lane = d.lane and o.id > d.id
                and (o.tokens is null) = (d.tokens is null))
        order by n.accepted_at, n.id limit 1)
        """

    /// Adds to each broadcast its deliveries within reach, in the order of its event's audiences.
    private func withDeliveries(_ rows: [PostgresRow], within reach: AppReach) async throws -> [Contract.Broadcast] {
        guard !rows.isEmpty else { return [] }
        let deliveries = try await deliveries(of: rows.map { try $0.decode("id") }, within: reach)
        return try rows.map { row in
            var broadcast: Contract.Broadcast = try row.read()
            broadcast.set(
                deliveries[broadcast.uuid] ?? [], isScheduled: try row.decode("scheduled"),
                isCancelled: try row.decode("cancelled"))
            return broadcast
        }
    }

    func deliveries(of ids: [UUID], within reach: AppReach) async throws -> [UUID: [Contract.Delivery]] {
        let rows = try await bulk.query(
            """
            select d.broadcast_id, case when d.tokens is null then 'channel' else 'tokens' end as kind,
                null::json as counts, l.bundle_id as "bundleId", l.environment, nullif(l.variant, '') as variant,
                coalesce(d.channel_id, case when d.tokens is null then c.channel_id end) as "channelId", d.state,
                d.attempts, case when d.tokens is null then d.priority
                    else greatest(d.priority, \(APNsPriority.powerAware.rawValue)) end as priority,
                d.apns_expiration as "apnsExpiration", d.apns_timestamp as timestamp,
                d.apns_request_id as "apnsRequestId", d.apns_unique_id as "apnsUniqueId", d.reason,
                d.next_attempt_at as "nextAttemptAt", d.settled_at as "settledAt",
                case when d.attempts > 0 and d.state in ('accepted', 'rejected') then greatest(0, round(extract(
                    epoch from d.settled_at - greatest(b.accepted_at, b.send_at)) * 1000))::integer
                    end as "answerMilliseconds",
                case when d.state = 'superseded' then \(Self.successor) end as "supersededBy", d.tokens,
                case when d.tokens is not null and d.settled_at is null and d.attempts = 0
                    then (select count(*) from \(CrowdRows.tokens(of: "l.lane"))) end as waiting
            from deliveries d join broadcasts b on b.id = d.broadcast_id join audiences l on l.lane = d.lane
            left join channels c on c.id = l.channel
            where d.broadcast_id = any(\(ids)) and \(EventReach.covers(reach, lane: "l")) order by d.id
            """)
        var deliveries: [UUID: [Contract.Delivery]] = [:]
        for row in rows {
            var delivery: Contract.Delivery = try row.read()
            if var progress: TokenProgress = try row.json("tokens") {
                // A message that has not begun, because it waits for its lane's interval, still has all tokens to reach.
                progress.total = try row.decode(Int?.self, "waiting") ?? progress.total
                delivery.counts = Contract.TokenCounts(progress, delivery.state)
            }
            deliveries[try row.decode("broadcast_id"), default: []].append(delivery)
        }
        return deliveries
    }
}
