internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// Every store on one fresh database, with a clock that the test sets and the steps that most tests begin with.
struct StoreWorld: Sendable {
    let pool: PostgresPool
    let clock: ManualClock
    let replica = UUID()
    let apps: AppStore
    let events: EventStore
    let channels: ChannelStore
    let outbox: Outbox
    let keys: KeyStore
    let auditLog: AuditLog

    /// Seconds for which the channel of an ended event is kept.
    static let retireAfter = 14_400.0

    static let tenure = ChannelTenure(retireAfter: retireAfter)

    init(_ test: TestDatabase, at now: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
        pool = test.pool
        let clock = ManualClock(now)
        self.clock = clock
        apps = AppStore(test.database)
        events = EventStore(test.database)
        channels = ChannelStore(test.database)
        outbox = Outbox(test.database)
        keys = KeyStore(database: test.database, now: { clock.now })
        auditLog = AuditLog(database: test.database)
    }

    var now: Date { clock.now }

    // MARK: Apps, events, channels

    /// Registers the apps of the event's audiences that are not registered yet, and declares the event. Its channels
    /// are not created yet.
    @discardableResult
    func put(_ draft: Contract.EventDraft, as key: String = "match-1") async throws -> Contract.Event {
        for name in Set(draft.audiences.map(\.bundleId)) where try await apps.app(.sample(name)) == nil {
            _ = try await apps.put(.sample(name, at: now))
        }
        return try await events.put(draft, as: key, now: now).event.value
    }

    @discardableResult
    func align() async throws -> Int { try await channels.align(now: now, tenure: Self.tenure) }

    func claimChannels(limit: Int = 100) async throws -> [ChannelTask] {
        try await channels.claimDue(now: now, leasedUntil: now.addingTimeInterval(10), limit: limit)
    }

    /// Declares an event, and leases the creation of its channel.
    func beginCreation() async throws -> ChannelTask {
        try await put(.sample())
        try await align()
        return try #require(try await claimChannels().first)
    }

    /// Aligns, and records every due call as successful, as the provisioner's loops do while APNs works.
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
        _ outcome: ChannelOutcome, of task: ChannelTask,
        _ answer: Contract.AuditAnswer = Contract.AuditAnswer(status: 200)
    ) async throws -> Channel {
        try await channels.record(outcome, answer, of: task, by: .server, now: now)
    }

    /// Records that Apple deleted the channel.
    @discardableResult
    func deleted(_ channel: Channel) async throws -> Channel {
        let address = try #require(try await channels.address(of: channel.app))
        return try await record(.deleted, of: ChannelTask(channel: channel, address: address))
    }

    /// Declares an event, and creates the channels of its audiences.
    @discardableResult
    func open(_ key: String = "match-1", audiences: [Audience]? = nil) async throws -> EventKey {
        let event = try await put(.sample(audiences: audiences), as: key)
        try await provision()
        return event.eventKey
    }

    /// Declares events with one audience of this app, and creates their channels.
    func open(
        _ keys: [String], of bundleID: String = "com.example.Goal", in environment: APNsEnvironment = .production
    ) async throws {
        for key in keys { try await put(.sample(audiences: [.sample(bundleID, environment)]), as: key) }
        try await provision()
    }

    /// The newest channel of the event's only audience.
    func channel(of key: String = "match-1") async throws -> Channel {
        try #require(try await ledger("c.event_key = \(key)").last)
    }

    /// The ledger's channels of the sample app, or of another.
    func ledger(_ condition: PostgresQuery, of app: AppEnvironment? = nil) async throws -> [Channel] {
        let isOfApp = AppColumns.isOf(try app ?? .sample(), row: "c")
        return try await pool.query(
            """
            select \(ChannelStore.columns) from channels c where \(isOfApp) and \(condition) order by c.created_at, c.id
            """
        ).read()
    }

    // MARK: Reconciliations

    /// Reconciles with a list of these channels. If Apple must be asked about a channel, `policies` has the answer; a
    /// channel that is not in it does not exist.
    ///
    /// - Parameter options: whether the actions are carried out. All that are carried out must succeed.
    @discardableResult
    func reconcile(
        _ listed: [String], policies: [String: StoragePolicy] = [:],
        _ options: ReconciliationOptions = ReconciliationOptions(.init(apply: true))
    ) async throws -> (actions: [ReconciliationAction], alarm: Contract.ReconciliationAlarm?) {
        let run = try await beginReconciliation()
        clock.advance(by: 0.001)
        let plan = try await observe(listed, run)
        var readings: [String: ReconciliationPlan.Reading] = [:]
        for channelID in plan.singleReads(options, now: now, limit: 100) {
            readings[channelID] = policies[channelID].map(ReconciliationPlan.Reading.exists) ?? .gone
        }
        let (actions, alarm) = plan.conclusions(readings, options, now: now)
        let done = try await apply(actions, run).done
        #expect(done.allSatisfy { $0 }, "\(zip(actions, done).filter { !$1 })")
        try await finish(run, alarm)
        return (actions, alarm)
    }

    // The steps of a reconciliation of the sample app in production.

    func beginReconciliation() async throws -> ReconciliationRun {
        try await channels.beginReconciliation(.sample(), now: now, leasedUntil: now + 10)
    }

    func claimReconciliation(interval: TimeInterval = 0) async throws -> ReconciliationRun? {
        try await channels.claimDue(interval: interval, now: now, leasedUntil: now + 10)
    }

    func observe(_ listed: [String], _ run: ReconciliationRun) async throws -> ReconciliationPlan {
        try await channels.observe(ChannelListing(channelIDs: listed), listedAt: now, seenAt: now, run)
    }

    func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) {
        try await channels.apply(actions, run, by: .server, now: now, leasedUntil: now + 10)
    }

    @discardableResult
    func finish(
        _ run: ReconciliationRun, _ alarm: Contract.ReconciliationAlarm? = nil, recreates: Bool = false
    ) async throws -> Contract.Reconciliation {
        let report = Contract.Reconciliation(
            id: UUID().text, bundleId: run.address.bundleID.rawValue, environment: .init(run.address.environment),
            actor: "test", startedAt: run.startedAt, finishedAt: now, applied: true, apple: 0, ledger: 0, matched: 0,
            missing: [], unmanaged: [], actions: [], alarm: alarm, notes: [])
        try await channels.finish(run, report, recreates: recreates, now: now)
        return report
    }

    /// Records Apple's list as it was read before a creation.
    func witness(_ listed: [String]) async throws {
        try await channels.recordListing(ChannelListing(channelIDs: listed), askedAt: now, seenAt: now, .sample())
    }

    /// Reconciles with a list that lacks only this channel. The operator has asked for lost channels to be replaced,
    /// even if all are lost.
    func lose(_ channel: Channel) async throws {
        let others = try await ledger("c.state = 'active'", of: channel.app).compactMap(\.channelID)
            .filter { $0 != channel.channelID }
        let (actions, _) = try await reconcile(others, ReconciliationOptions(.init(apply: true, recreate: true)))
        #expect(actions.map(\.name) == [.markMissing])
    }

    /// Begins the deletion of the event's channel though the event needs it.
    func forceDeletion(of channel: Channel) async throws {
        _ = try await channels.beginDeletion(
            channel.id, force: true, now: now, leasedUntil: now.addingTimeInterval(10))
    }

    func channel(_ id: UUID) async throws -> Channel? {
        try await channels.channel(id, of: .sample())
    }

    func unmanaged() async throws -> [UnmanagedChannel] {
        try await pool.query("select \(ChannelStore.unmanagedColumns) from unmanaged_channels u").read()
    }

    func nextDueChannel() async throws -> Date? { try await channels.nextDue(now: now) }

    // MARK: Broadcasts

    @discardableResult
    func accept(_ request: Contract.BroadcastDraft, for key: String = "match-1") async throws -> Contract.Broadcast {
        try #require(try await accept([request], for: key).first).get()
    }

    func accept(_ requests: [Contract.BroadcastDraft], for key: String = "match-1") async throws -> [Result<
        Contract.Broadcast, Problem
    >] {
        let key = try EventKey.sample(key)
        return try await accept(requests.map { Intake(eventKey: key, request: $0) })
    }

    func accept(_ intakes: [Intake]) async throws -> [Result<Contract.Broadcast, Problem>] {
        try await outbox.accept(
            intakes.map { intake in
                var intake = intake
                intake.at = now
                return intake
            })
    }

    func rehearse(_ request: Contract.BroadcastDraft) async throws -> Contract.BroadcastPreview {
        let intake = Intake(.event(try .sample()), request: request, at: now)
        return try #require(try await outbox.rehearse(intake)).preview
    }

    func claim(
        by replica: UUID? = nil, lease: TimeInterval = 5, limit: Int = 100, laneInterval: TimeInterval = 0,
        in environment: APNsEnvironment = .production, limits: [AppLimit] = []
    ) async throws -> [ClaimedDelivery] {
        var request = request(limit, by: replica, lease: lease, in: environment, limits)
        request.laneInterval = laneInterval
        return try await outbox.claim(request)
    }

    func request(
        _ limit: Int = 1, by replica: UUID? = nil, lease: TimeInterval = 5,
        in environment: APNsEnvironment = .production, _ limits: [AppLimit] = []
    ) -> WorkClaim {
        WorkClaim(
            environment: environment, limit: limit, replica: replica ?? self.replica, at: now, lease: lease,
            limits: limits)
    }

    func settle(_ delivery: ClaimedDelivery, _ verdict: Verdict, by replica: UUID? = nil) async throws {
        var settled = delivery.settled(verdict, at: now)
        settled.replica = replica ?? self.replica
        try await until("nobody else has locked the lane") { [settled] in try await outbox.tryRecord([settled]).isEmpty
        }
    }

    /// Withdraws a broadcast.
    func withdraw(_ broadcast: Contract.Broadcast) async throws -> Bool? {
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
    func delivery(of broadcast: Contract.Broadcast) async throws -> Contract.Delivery {
        let deliveries = try #require(try await outbox.broadcast(broadcast.id)).deliveries
        #expect(deliveries.count == 1)
        return try #require(deliveries.first)
    }

    func state(of broadcast: Contract.Broadcast) async throws -> Contract.DeliveryState {
        try await delivery(of: broadcast).state
    }

    /// The number of deliveries that wait on a lane that is not due at any time.
    func deliveriesNeverDue() async throws -> Int {
        try await count(
            """
            select count(*) as n from deliveries d join audiences l on l.lane = d.lane
            where d.settled_at is null and d.tokens is null and l.due_at is null and not exists (
                -- One that is under way finds its lane when the lease ends.
                select from deliveries u where u.lane = l.lane and u.state = 'sending' and l.leased_until is not null)
            """)
    }

    func count(_ query: PostgresQuery) async throws -> Int {
        try #require(try await pool.query(query).first).decode(Int.self, "n")
    }

    /// The number of rows of a table, with a condition.
    func rows(_ rest: PostgresQuery) async throws -> Int { try await count("select count(*) as n from \(rest)") }

    /// The numbers of rows of tables that have any.
    func filled(_ tables: [String]) async throws -> [String: Int] {
        var filled: [String: Int] = [:]
        for table in tables {
            let count = try await rows(PostgresQuery(unsafeSQL: table))
            if count > 0 { filled[table] = count }
        }
        return filled
    }

    /// Adds an installation of the sample app in production.
    ///
    /// - Returns: its row.
    func install(
        system: Int = 17_004, locale: String? = nil, variant: String? = nil, enabled: Bool = true,
        frequent: Bool = true
    ) async throws -> Int {
        try await count(
            """
            insert into installations (app, installation, secret_hash, system_version, locale, variant,
                live_activities_enabled, frequent_pushes_enabled, created_at, seen_at)
            select id, gen_random_uuid(), sha256('secret'), \(system), \(locale), \(variant), \(enabled), \(frequent),
                \(now), \(now)
            from app_environments where bundle_id = 'com.example.Goal' and environment = 'production' returning id as n
            """)
    }

    /// Returns when a transaction waits for a lock of another one.
    func untilSomebodyWaits() async throws {
        try await until("a transaction waits for a lock") {
            try await rows("pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") > 0
        }
    }
}

// Calls for tests that do not check the audit log or the apps of API keys: the server is the actor and may access
// everything.

extension Outbox {
    /// When the next lane in production is due; `nil`: none waits.
    func nextDue() async throws -> Date? { try await nextDue(in: .production) }

    func broadcast(_ id: String, within reach: AppReach = .all) async throws -> Contract.Broadcast? {
        try await broadcast(try #require(UUID(uuidString: id)), within: reach)
    }

    func broadcasts(of key: EventKey, _ page: PageRequest) async throws -> Contract.Page<Contract.Broadcast> {
        try await broadcasts(of: key, within: .all, page)
    }

    func cancel(_ id: String, within reach: AppReach = .all, now: Date) async throws -> Bool? {
        try await cancel(try #require(UUID(uuidString: id)), within: reach, by: .server, now: now)
    }
}

extension Intake {
    init(
        _ target: BroadcastTarget, request: Contract.BroadcastDraft, by actor: AuditActor = .server,
        within reach: AppReach = .all, at time: Date = .distantPast
    ) { self.init(target: target, request: request, actor: actor, reach: reach, at: time) }

    init(eventKey: EventKey, request: Contract.BroadcastDraft, at time: Date = .distantPast) {
        self.init(.event(eventKey), request: request, at: time)
    }
}

extension Contract.Event {
    /// The declaration, as a PUT of it would be read.
    var draft: Contract.EventDraft { get throws { try JSONDraft(written: self).declaration() } }

    /// The channels of the audiences.
    var channels: [Contract.AudienceChannel] { audiences.map(\.channel) }
}

extension EventStore {
    func put(
        _ draft: Contract.EventDraft, as key: String = "match-1", within reach: AppReach = .all,
        by actor: AuditActor = .server, if condition: WriteCondition = .none, now: Date
    ) async throws -> (event: Versioned<Contract.Event>, created: Bool) {
        try await put(.sample(key), draft, within: reach, by: actor, if: condition, now: now)
    }

    func cancel(
        _ key: EventKey, within reach: AppReach = .all, by actor: AuditActor = .server, now: Date
    ) async throws {
        try await cancel(key, sendingEnd: false, within: reach, by: actor, if: .none, now: now)
    }

    func reopen(
        _ key: EventKey, audiences: [Contract.AudienceSelector]? = nil, now: Date
    ) async throws -> Contract.ReopenedEvent {
        try await reopen(key, audiences: audiences, within: .all, by: .server, now: now)
    }
}

/// Runs a test with stores on its own database.
func withStores(_ content: TestDatabaseContent = .migrated, _ body: (StoreWorld) async throws -> Void) async throws {
    try await withDatabase(content) { try await body(StoreWorld($0)) }
}

/// Runs a test with stores that have one open event.
func withEvent(_ body: (StoreWorld) async throws -> Void) async throws {
    try await withStores { stores in
        try await stores.open()
        try await body(stores)
    }
}

/// Runs a test with stores that have one open event for two apps.
func withTwoApps(_ body: (StoreWorld, [Audience]) async throws -> Void) async throws {
    try await withStores { stores in
        let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
        try await stores.open(audiences: audiences)
        try await body(stores, audiences)
    }
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
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension Verdict {
    static let ok = Verdict.accepted(APNsReceipt(requestID: nil))
}

extension Contract.Broadcast {
    /// The broadcast without its request, as the answer to its acceptance contains it. The caller knows the request.
    var withoutMessage: Contract.Broadcast {
        var broadcast = self
        broadcast.message = nil
        return broadcast
    }
}

extension Database {
    /// Makes one step of a rule.
    func prune(_ rows: String, before cutoff: Date, limit: Int) async throws -> Int {
        try await prune(
            try #require(Retention.rules().first { $0.name == rows }), before: cutoff, limit: limit)
    }
}

/// The calls that many tests make, for the sample app in production.
extension StoreWorld {
    var history: Database { Database(pool) }
    var lookups: LookupStore { LookupStore(database: Database(pool)) }

    // MARK: Events

    func event(_ key: String = "match-1") async throws -> Contract.Event? {
        try await event(EventKey.sample(key))
    }

    func event(_ key: EventKey) async throws -> Contract.Event? { try await events.event(key, now: now)?.value }

    /// The keys of the events that a filter finds.
    func listed(_ filter: EventFilter) async throws -> [String] {
        try await events.events(where: filter, PageRequest(), now: now).items.map(\.key)
    }

    func cancel(_ key: String = "match-1") async throws { try await cancel(EventKey.sample(key)) }

    func cancel(_ key: EventKey) async throws { try await events.cancel(key, now: now) }

    /// The broadcast as it is now.
    func read(_ broadcast: Contract.Broadcast) async throws -> Contract.Broadcast? {
        try await outbox.broadcast(broadcast.id)
    }

    func create(_ draft: Contract.KeyDraft) async throws -> Contract.IssuedKey {
        try await keys.create(draft, by: .commandLine)
    }

    /// A key for all apps.
    func key(_ name: String, _ scopes: Set<Contract.Scope>) async throws -> (key: APIKey, secret: String) {
        try await keys.create(name: name, scopes: scopes, bundleID: nil)
    }

    /// The lookup of one event by SQL, with its newest content.
    func lookup(_ key: String = "match-1", variant: String? = nil) async throws -> Contract.Lookup? {
        let name = LookupKey(app: try .sample(), key: try .sample(key), variant: variant.flatMap(Variant.init))
        let records = try await lookups.records(of: [name.key])[name.key] ?? []
        guard let record = LookupEvent(records).record(of: name) else { return nil }
        return record.lookup(
            variants: records.filter { $0.isOf(name.app) }.compactMap(\.variant),
            with: try await lookups.contents(of: [record.lane])[record.lane], now: now)
    }

    /// The content that lookups show.
    func shown() async throws -> String? { try await lookup()?.contentState?.description }

    /// Plans the scheduled messages whose time has come, and returns their number.
    @discardableResult
    func promote(limit: Int = 100) async throws -> Int { try await outbox.promote(now: now, limit: limit) }

    /// The newest entries of the audit log first.
    func audited(_ filter: AuditFilter = AuditFilter()) async throws -> [Contract.AuditEntry] {
        try await auditLog.entries(where: filter, PageRequest()).items
    }

    // MARK: Channels

    func quotas() async throws -> [Quota] { try await channels.quotas(now: now, tenure: Self.tenure) }

    /// The first app's quota in production.
    func quota() async throws -> Quota { try #require(try await quotas().first { $0.environment == .production }) }

    /// Reserves a channel without an event.
    func reserve(
        _ bundleID: String = "com.example.Goal", in environment: APNsEnvironment = .production,
        leasedFor seconds: TimeInterval = 10
    ) async throws -> ChannelTask {
        try #require(try await reserveIfRoom(bundleID, in: environment, leasedFor: seconds))
    }

    func reserveIfRoom(
        _ bundleID: String = "com.example.Goal", in environment: APNsEnvironment = .production,
        leasedFor seconds: TimeInterval = 10
    ) async throws -> ChannelTask? {
        try await channels.reserve(
            Contract.ChannelDraft(storagePolicy: .noMessageStored, label: "by hand"),
            for: AppEnvironment(bundleID: .sample(bundleID), environment: environment), now: now,
            leasedUntil: now + seconds)
    }

    /// Records that Apple refused to create the channel, and when the creation is due again.
    @discardableResult
    func refuse(
        _ task: ChannelTask, _ reason: String, status: Int = 400, for seconds: TimeInterval
    ) async throws -> Channel {
        try await record(
            .unsuccessful(state: .failed, nextAttemptAt: now + seconds), of: task,
            Contract.AuditAnswer(status: status, reason: reason))
    }

    /// Imports a channel that was created elsewhere, for an event or for none.
    @discardableResult
    func adopt(
        _ channelID: String = "console==", for key: String? = nil, variant: String? = nil,
        _ policy: StoragePolicy = .mostRecentMessageStored, of bundleID: String = "com.example.Goal",
        within reach: AppReach = .all
    ) async throws -> Channel {
        try await channels.import(
            Contract.ChannelImport(channelId: channelID, label: "by hand", eventKey: key, variant: variant), policy,
            into: AppEnvironment(bundleID: .sample(bundleID), environment: .production), within: reach,
            answer: Contract.AuditAnswer(status: 200), by: .server, now: now)
    }
}
