internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The outbox in the tables `broadcasts`, `deliveries` and `lanes`.
///
/// One rule puts all changes of a lane in one order, without counters: a transaction that changes a lane's deliveries
/// locks the lane's row first. A transaction that locks several lanes locks them in order of their IDs. Each statement
/// after the lock sees what other transactions have committed.
struct PostgresOutbox: Outbox {
    /// The connections for accepting single broadcasts and for moving scheduled broadcasts to their lanes. There are
    /// never more transactions at a time than `acceptConnections`, so no transaction waits for a connection.
    let database: Database
    /// The connections for accepting many broadcasts in one call, for withdrawing and for reading.
    let bulk: Database
    /// The connections for claims and settlements, so that these never wait behind acceptances.
    let dispatch: Database
    let acceptance: AcceptanceTransaction
    /// Accepts calls with many broadcasts.
    let bulkAcceptance: AcceptanceTransaction
    let acceptances: Batch<AcceptCall, [Result<Broadcast?, Problem>]>
    private let settlements: [APNsEnvironment: Batch<SettleCall, Bool>]

    /// The maximum number of transactions with single broadcasts at a time. A further transaction begins only if the
    /// last one takes long, for example because it waits for an event that is being changed. At 2,000 broadcasts a
    /// second, the median time from POST to Apple's 200 was 23 to 27 ms with one transaction at a time, and 30 to 32 ms
    /// with always two.
    private static let acceptPlaces = 4
    /// One connection for each of the `acceptPlaces` transactions, and one for scheduled broadcasts.
    static let acceptConnections = acceptPlaces + 1
    private static let acceptExtraPlaceDelay = Duration.milliseconds(50)
    private static let acceptLimit = 100
    /// The maximum number of verdicts in one transaction. It is limited, because the verdicts' lanes can take nothing
    /// else until the transaction is committed.
    private static let settleLimit = 200

    /// - Parameters:
    ///   - database: the connections for single broadcasts; at least `acceptConnections`.
    ///   - bulk: other connections for calls with many broadcasts, for reading and for withdrawing; `nil`: `database`.
    ///   - dispatch: other connections for claims and settlements; `nil`: `database`.
    ///   - signals: wakes the loops of this process right after a commit; `nil`: they are woken by NOTIFY only.
    ///   - outages: is told when the background loops cannot be woken (`WakeUps`).
    init(
        _ database: Database, bulk: Database? = nil, dispatch: Database? = nil, signals: PostgresWakeSignals? = nil,
        outages: OutageLog? = nil
    ) {
        self.database = database
        self.bulk = bulk ?? database
        self.dispatch = dispatch ?? database
        let wakeUps = WakeUps(self.dispatch, signals: signals, outages: outages)
        let types = ContentTypeCache()
        let acceptance = AcceptanceTransaction(database: database, wakeUps: wakeUps, types: types)
        self.acceptance = acceptance
        bulkAcceptance = AcceptanceTransaction(database: self.bulk, wakeUps: wakeUps, types: types)
        // After an outage, nobody knows whether the last commit happened, so every item of a batch gets the error.
        acceptances = Batch(
            places: Self.acceptPlaces, extraPlaceDelay: Self.acceptExtraPlaceDelay, limit: Self.acceptLimit
        ) {
            try await acceptance.accept($0)
        }
        let settling = Settling(dispatch: self.dispatch, wakeUps: wakeUps)
        settlements = Dictionary(
            uniqueKeysWithValues: APNsEnvironment.allCases.map { environment in
                let batch = Batch<SettleCall, Bool>(
                    limit: Self.settleLimit, owner: { $0.delivery.address.bundleID }
                ) {
                    try await settling.record($0)
                }
                return (environment, batch)
            })
    }

    func settle(_ delivery: ClaimedDelivery, _ settlement: Settlement?, replica: UUID, now: Date) async throws -> Bool {
        guard let batch = settlements[delivery.address.environment] else { return true }
        return try await batch.run(
            SettleCall(delivery: delivery, settlement: settlement, replica: replica, now: now))
    }

    /// From this number of rows on, a statement is planned again for each use.
    private static let bulkRows = 10

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
        select set_config('plan_cache_mode', \(rows >= bulkRows ? "force_custom_plan" : "force_generic_plan"), true),
            set_config('enable_hashjoin', \(rows >= bulkRows ? "on" : "off"), true)
        """
    }

    func broadcast(_ id: UUID, within reach: AppReach) async throws -> Broadcast? {
        let rows = try await bulk.query(
            """
            select \(Self.columns), \(EventReach.covers(reach, broadcast: "b")) as is_covered
            from broadcasts b where b.id = \(id)
            """)
        guard try rows.first?.decode(Bool.self, "is_covered") ?? true else { return nil }
        return try await complete(Array(rows), within: reach).first
    }

    func broadcasts(of key: EventKey, within reach: AppReach, _ page: PageRequest) async throws -> Page<Broadcast> {
        try await list(key, reach, TimePage(page, by: "b.accepted_at", "b.id", newestFirst: true)) { $0.acceptedAt }
    }

    func scheduled(of key: EventKey, within reach: AppReach, _ page: PageRequest) async throws -> Page<Broadcast> {
        try await list(key, reach, TimePage(page, by: "b.send_at", "b.id"), where: "b.scheduled") {
            $0.sendAt ?? $0.acceptedAt
        }
    }

    /// - Parameter time: the time by which the page is ordered.
    private func list(
        _ key: EventKey, _ reach: AppReach, _ part: TimePage, where condition: PostgresQuery = "true",
        _ time: (Broadcast) -> Date
    ) async throws -> Page<Broadcast> {
        let rows = try await bulk.query(
            """
            select \(Self.columns) from broadcasts b
            where b.event_key = \(key.rawValue) and \(condition) and \(part.condition)
                and \(EventReach.covers(reach, broadcast: "b"))
            \(part.order)
            """)
        return part.page(try await complete(Array(rows), within: reach)) { (time($0), $0.id) }
    }

    private static let columns: PostgresQuery = """
        b.id, b.event_key, b.accepted_at, b.send_at, b.send_after_start, b.scheduled, b.cancelled, b.warnings,
        b.accepted_by, b.withdrawn_by, b.state_outcome, b.state_rule, \(BroadcastRows.request)
        """

    /// The broadcast that superseded a delivery `d` of an event's broadcast `b`: the first broadcast after `b` that has
    /// a message for the lane, if this broadcast was accepted before `d` was superseded. A scheduled broadcast that was
    /// accepted before `b` is not found; in this case the result is null.
    private static let successor: PostgresQuery = """
        (select n.id from broadcasts n
        where n.event_key = b.event_key and (n.accepted_at, n.id) > (b.accepted_at, b.id)
            and n.accepted_at <= d.settled_at + interval '1 millisecond'
            and exists (select from deliveries o where o.broadcast_id = n.id and o.lane = d.lane and o.id > d.id)
        order by n.accepted_at, n.id limit 1)
        """

    /// Adds to each broadcast its deliveries within reach, in the order of its event's audiences.
    private func complete(_ rows: [PostgresRow], within reach: AppReach) async throws -> [Broadcast] {
        guard !rows.isEmpty else { return [] }
        let deliveries = try await deliveries(of: rows.map { try $0.decode("id") }, within: reach)
        return try rows.map { row in
            let id: UUID = try row.decode("id")
            var broadcast = Broadcast(
                id: id, eventKey: try row.optionalWord("event_key"), event: try row.word("event"),
                acceptedAt: try row.decode("accepted_at"), sendAt: try row.decode("send_at"),
                isScheduled: try row.decode("scheduled"), isCancelled: try row.decode("cancelled"),
                deliveries: deliveries[id] ?? [], warnings: try row.decode("warnings"),
                by: try row.decode("accepted_by"))
            broadcast.sendAfterStart = try row.decode("send_after_start")
            broadcast.withdrawnBy = try row.decode("withdrawn_by")
            broadcast.outcome = try row.optionalWord("state_outcome")
            broadcast.rule = try row.decode("state_rule")
            broadcast.request = try row.request()
            return broadcast
        }
    }

    func deliveries(of ids: [UUID], within reach: AppReach) async throws -> [UUID: [Delivery]] {
        let rows = try await bulk.query(
            """
            select d.broadcast_id, l.bundle_id, l.environment, l.variant, coalesce(d.channel_id, c.channel_id) as channel_id,
                d.state, d.attempts, d.priority, d.apns_expiration, d.apns_timestamp, d.apns_request_id,
                d.apns_unique_id, d.reason, d.settled_at, l.kind, d.fan_out,
                case when l.kind = 'crowd' and d.settled_at is null and d.fan_out is null
                    then (select count(*) from \(CrowdRows.crowd("l.id"))) end as waiting,
                case when d.state = 'superseded' then \(Self.successor) end as superseded_by,
                d.next_attempt_at
            from deliveries d join broadcasts b on b.id = d.broadcast_id join lanes l on l.id = d.lane left join channels c on c.id = l.channel
            where d.broadcast_id = any(\(ids)) and \(EventReach.covers(reach, lane: "l")) order by d.id
            """)
        var deliveries: [UUID: [Delivery]] = [:]
        for row in rows {
            deliveries[try row.decode("broadcast_id"), default: []].append(try Self.delivery(row))
        }
        return deliveries
    }

    private static func delivery(_ row: PostgresRow) throws -> Delivery {
        let state: Delivery.State = try row.word("state")
        let kind: Lane.Kind = try row.word("kind")
        let isCrowd = kind.isCrowd
        let priority = try row.priority("priority")
        // A message that has not begun, because it waits for its lane's interval, still has the whole crowd to reach.
        let fanOut = try FanOutText.fanOut(row) ?? FanOut(total: try row.decode(Int?.self, "waiting") ?? 0)
        var delivery = Delivery(
            counts: isCrowd ? Delivery.Counts(fanOut, state) : nil,
            bundleID: try row.word("bundle_id"), environment: try row.word("environment"),
            channelID: try row.decode("channel_id"), state: state,
            attempts: try row.decode("attempts"), priority: kind == .channel ? priority : priority.ofDevicePush,
            apnsExpiration: try row.decode("apns_expiration"), timestamp: try row.decode("apns_timestamp"),
            apnsRequestID: try row.decode("apns_request_id"), apnsUniqueID: try row.decode("apns_unique_id"),
            reason: try row.decode("reason"), nextAttemptAt: try row.decode("next_attempt_at"),
            settledAt: try row.decode("settled_at"), variant: try row.variant("variant"))
        delivery.supersededBy = try row.decode("superseded_by")
        return delivery
    }
}

extension PostgresRow {
    /// Reads a column whose CHECK constraint allows only Apple's three priorities.
    func priority(_ column: String) throws -> APNsPriority {
        let value: Int = try decode(column)
        guard let priority = APNsPriority(rawValue: value) else {
            throw UnknownWord(column: column, text: String(value))
        }
        return priority
    }

    /// Reads a priority from a column that may be null.
    func optionalPriority(_ column: String) throws -> APNsPriority? {
        try decode(Int?.self, column) == nil ? nil : try priority(column)
    }
}
