internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Every store on one fresh database, with a clock that the test sets and the steps that most tests begin with.
struct Stores: Sendable {
    let pool: PostgresPool
    let clock = ManualClock()
    let replica = UUID()
    let apps: PostgresAppStore
    let events: PostgresEventStore
    let channels: PostgresChannelStore
    let outbox: PostgresOutbox
    let keys: PostgresKeyStore
    let quirks: PostgresQuirkStore
    let reconciliations: PostgresReconciliationStore
    let auditLog: PostgresAuditLog
    let providerTokens: PostgresProviderTokenStore

    /// Seconds for which the channel of an ended event is kept.
    static let retireAfter = 14_400.0

    static let tenure = ChannelTenure(retireAfter: retireAfter)

    static let plan: DeliveryPlanning = { request, audiences, now throws(Problem) in
        try DeliveryPlan(request, audiences: audiences, now: now)
    }

    init(_ test: TestDatabase) {
        pool = test.pool
        apps = PostgresAppStore(test.database)
        events = PostgresEventStore(test.database)
        channels = PostgresChannelStore(test.database)
        outbox = PostgresOutbox(test.database)
        keys = PostgresKeyStore(test.database)
        quirks = PostgresQuirkStore(test.database)
        reconciliations = PostgresReconciliationStore(test.database)
        auditLog = PostgresAuditLog(test.database)
        providerTokens = PostgresProviderTokenStore(test.database)
    }

    var now: Date { clock.now }

    // MARK: Apps, events, channels

    /// Registers the apps of the event's audiences that are not registered yet, and declares the event. Its channels
    /// are not created yet.
    @discardableResult
    func put(_ specification: EventSpecification) async throws -> Event {
        for bundleID in Set(specification.audiences.map(\.bundleID)) where try await apps.app(bundleID) == nil {
            _ = try await apps.put(.sample(bundleID.rawValue, at: now))
        }
        return try await events.put(specification, now: now).event
    }

    @discardableResult
    func align() async throws -> Int { try await channels.align(now: now, tenure: Self.tenure) }

    func claimChannels(limit: Int = 100) async throws -> [ChannelTask] {
        try await channels.claimDue(now: now, leasedUntil: now.addingTimeInterval(10), limit: limit)
    }

    /// Aligns, and records every due call as successful, as a Provisioner does while APNs works.
    ///
    /// - Returns: the channels after these calls.
    @discardableResult
    func provision() async throws -> [Channel] {
        try await align()
        var done: [Channel] = []
        for task in try await claimChannels() {
            done.append(
                try await record(
                    task.channel.state == .creating ? .created(channelID: "apple-\(task.channel.id)") : .deleted,
                    of: task))
        }
        return done
    }

    /// Records the result of a call, with Apple's answer.
    @discardableResult
    func record(
        _ change: ChannelOutcome.Change, of task: ChannelTask, _ answer: APNsRecord? = nil
    ) async throws -> Channel {
        try await channels.record(
            ChannelOutcome(change, answer ?? APNsRecord(status: 200, reason: nil, requestID: nil)), of: task,
            by: .server, now: now)
    }

    /// Records that Apple deleted the channel.
    @discardableResult
    func deleted(_ channel: Channel) async throws -> Channel {
        let address = try #require(try await channels.address(of: channel.bundleID, in: channel.environment))
        return try await record(.deleted, of: ChannelTask(channel: channel, address: address))
    }

    /// Declares an event, and creates the channels of its audiences.
    @discardableResult
    func open(_ key: String = "match-1", audiences: [Audience]? = nil) async throws -> EventKey {
        let event = try await put(.sample(key, audiences: audiences))
        try await provision()
        return event.specification.key
    }

    /// The newest channel of the event's only audience.
    func channel(of key: String = "match-1") async throws -> Channel {
        let bundleID = try BundleID.sample()
        let page = try await channels.channels(
            of: bundleID, in: .production, where: ChannelFilter(eventKey: try .sample(key)), PageRequest())
        return try #require(page.items.last)
    }

    // MARK: Reconciliations

    /// Reconciles with a list of these channels. If Apple must be asked about a channel, `policies` has the answer; a
    /// channel that is not in it does not exist.
    ///
    /// - Parameter options: whether the actions are carried out. All that are carried out must succeed.
    @discardableResult
    func reconcile(
        _ listed: [String], policies: [String: StoragePolicy] = [:],
        _ options: ReconciliationOptions = ReconciliationOptions(apply: true)
    ) async throws -> (actions: [ReconciliationAction], alarm: ReconciliationReport.Alarm?) {
        let run = try await reconciliations.begin(.sample(), now: now, leasedUntil: now.addingTimeInterval(10))
        clock.advance(by: 0.001)
        let listing = ChannelListing(channelIDs: listed)
        let plan = ReconciliationPlan(
            listing, try await reconciliations.observe(listing, listedAt: now, seenAt: now, run))
        var readings: [String: ReconciliationPlan.Reading] = [:]
        for channelID in plan.questions(options, now: now, limit: 100) {
            readings[channelID] = policies[channelID].map(ReconciliationPlan.Reading.exists) ?? .gone
        }
        let (actions, alarm) = plan.conclusions(readings, options, now: now)
        let done = try await reconciliations.apply(
            actions, run, by: .server, now: now, leasedUntil: now.addingTimeInterval(10)
        ).done
        #expect(done.allSatisfy { $0 }, "\(zip(actions, done).filter { !$1 })")
        let report = ReconciliationReport(
            id: UUID(), bundleID: run.address.bundleID, environment: run.address.environment, actor: "test",
            startedAt: run.startedAt, finishedAt: now, applied: options.apply, apple: 0, ledger: 0, matched: 0,
            missing: [], unmanaged: [], actions: [], alarm: alarm, notes: [])
        try await reconciliations.finish(run, report, again: nil, now: now)
        return (actions, alarm)
    }

    /// Reconciles with a list that lacks only this channel. The operator has asked for lost channels to be replaced,
    /// even if all are lost.
    func lose(_ channel: Channel) async throws {
        let page = try await channels.channels(
            of: channel.bundleID, in: channel.environment, where: ChannelFilter(state: .active), PageRequest())
        let others = page.items.compactMap(\.channelID).filter { $0 != channel.channelID }
        let (actions, _) = try await reconcile(others, ReconciliationOptions(apply: true, recreate: true))
        #expect(actions.map(\.name) == ["mark-missing"])
    }

    /// Begins the deletion of the event's channel though the event needs it.
    func forceDeletion(of channel: Channel) async throws {
        _ = try await channels.beginDeletion(
            channel.id, of: channel.bundleID, in: channel.environment, force: true, now: now,
            leasedUntil: now.addingTimeInterval(10))
    }

    // MARK: Broadcasts

    @discardableResult
    func accept(_ request: BroadcastRequest, for key: String = "match-1") async throws -> Broadcast {
        try #require(try await accept([request], for: key).first).get()
    }

    func accept(_ requests: [BroadcastRequest], for key: String = "match-1") async throws -> [Result<
        Broadcast, Problem
    >] {
        let key = try EventKey.sample(key)
        return try await outbox.accept(
            requests.map { BroadcastIntake(eventKey: key, request: $0) }, now: now, plan: Self.plan)
    }

    func claim(
        by replica: UUID? = nil, lease: TimeInterval = 5, limit: Int = 100, laneInterval: TimeInterval = 0,
        in environment: APNsEnvironment = .production, limits: [LaneLimit] = [], held: Set<Int> = []
    ) async throws -> [ClaimedDelivery] {
        var claim = LaneClaim(
            environment: environment, limit: limit, replica: replica ?? self.replica, at: now,
            leasedUntil: now.addingTimeInterval(lease), laneInterval: laneInterval, limits: limits)
        claim.held = held
        return try await outbox.claim(claim)
    }

    func settle(_ delivery: ClaimedDelivery, _ verdict: Verdict, by replica: UUID? = nil) async throws {
        let settlement = Settlement(delivery: delivery.id, lane: delivery.lane, verdict: verdict, at: now)
        try await until("nobody else has locked the lane") {
            try await outbox.settle([settlement], replica: replica ?? self.replica, now: now).isEmpty
        }
    }

    /// Withdraws a broadcast.
    func withdraw(_ broadcast: Broadcast) async throws -> Bool? {
        try await outbox.cancel(broadcast.id, now: now)
    }

    /// Claims the only message that is due, and records that Apple accepted it.
    @discardableResult
    func sendOne() async throws -> ClaimedDelivery {
        let claimed = try await claim()
        #expect(claimed.count == 1)
        let delivery = try #require(claimed.first)
        try await settle(delivery, .accepted(APNsReceipt(requestID: nil)))
        return delivery
    }

    /// The only delivery of a broadcast, as it is now.
    func delivery(of broadcast: Broadcast) async throws -> Delivery {
        let deliveries = try #require(try await outbox.broadcast(broadcast.id)).deliveries
        #expect(deliveries.count == 1)
        return try #require(deliveries.first)
    }

    func state(of broadcast: Broadcast) async throws -> Delivery.State { try await delivery(of: broadcast).state }

    /// The number of deliveries that wait on a lane that is not due at any time.
    func deliveriesNeverDue() async throws -> Int {
        try await count(
            """
            select count(*) as n from deliveries d join lanes l on l.id = d.lane
            where d.settled_at is null and l.due_at is null and not exists (
                -- One that is under way finds its lane when the lease ends.
                select from deliveries u where u.lane = l.id and u.state = 'sending' and l.leased_until is not null)
            """)
    }

    func count(_ query: PostgresQuery) async throws -> Int {
        try #require(try await pool.query(query).first).decode(Int.self, "n")
    }

    /// The number of rows of a table, with a condition.
    func rows(_ rest: PostgresQuery) async throws -> Int { try await count("select count(*) as n from \(rest)") }

    /// Returns when a transaction waits for a lock of another one.
    func untilSomebodyWaits() async throws {
        try await until("a transaction waits for a lock") {
            try await rows("pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") > 0
        }
    }
}

extension Outbox {
    /// When the next lane in production is due; `nil`: none waits.
    func nextDue() async throws -> Date? { try await nextDue(in: .production) }
}

/// Runs a test with stores on its own database.
func withStores(_ content: TestDatabaseContent = .migrated, _ body: (Stores) async throws -> Void) async throws {
    try await withDatabase(content) { try await body(Stores($0)) }
}

/// The kind of the problem that `body` throws. The test fails if it throws none.
func problem<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async throws -> Problem.Kind? {
    do {
        _ = try await body()
        Issue.record("nothing was refused", sourceLocation: sourceLocation)
        return nil
    } catch let problem as Problem {
        return problem.kind
    }
}

/// Expects that `body` throws a problem of this kind.
func refuses<Value>(
    _ kind: Problem.Kind, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async throws {
    let found = try await problem(sourceLocation: sourceLocation, body)
    #expect(found == kind, sourceLocation: sourceLocation)
}

extension ClaimedDelivery {
    /// `aps.timestamp` of the message.
    var timestamp: Int {
        get throws {
            let rest = text.dropFirst(#"{"aps":{"timestamp":"#.count)
            return try #require(Int(rest.prefix { $0.isNumber }))
        }
    }

    /// The body as text.
    var text: String { String(decoding: message.body, as: UTF8.self) }
}

extension Verdict {
    static let ok = Verdict.accepted(APNsReceipt(requestID: nil))
}

extension Broadcast {
    /// The broadcast without its request, as the answer to its acceptance contains it. The caller knows the request.
    var withoutMessage: Broadcast {
        var broadcast = self
        broadcast.request = nil
        return broadcast
    }
}

extension PostgresEventStore {
    /// The lookup of one event by SQL, with its newest content.
    func lookup(
        topic: String, in environment: APNsEnvironment, _ key: EventKey, variant: Variant? = nil, contentState: Bool,
        now: Date
    ) async throws -> LookupEntry? {
        let name = LookupName(topic: topic, environment: environment, key: key, variant: variant)
        return try await lookups(of: [name], contentState: contentState, now: now)[name]
    }
}
