internal import APNsWire
package import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTP2
package import Logging
internal import Postgres
internal import ServiceLifecycle

/// A server that is built but not running yet. `serve`, the demo and the end-to-end tests use it.
package struct Server: Sendable {
    let configuration: Configuration
    let logger: Logger
    let database: DatabaseSession
    /// The time that a stop leaves for work in progress.
    let drain: Drain
    let gateway: APNsClient
    /// The key ledger, for commands and tests that create the first key.
    package let keys: KeyStore
    /// Every part that runs, in the order of their start. They stop in reverse order.
    let members: [Member]
    /// The API's port, as soon as requests are accepted. It ends when the server has stopped.
    package let ports: AsyncStream<Int>
    let listening: AsyncStream<Int>.Continuation

    /// A part of the running server, with the role that needs it; `nil`: it always runs.
    struct Member: Service {
        let role: Configuration.Role?
        let name: String
        /// Ends by itself at the graceful shutdown.
        let body: @Sendable () async throws -> Void

        func run() async throws { try await body() }
    }

    /// Seconds until the work of a dead replica is taken over. It is short, because the work has to continue within 10
    /// seconds. Whoever still works extends the lease.
    static let lease: TimeInterval = 6

    /// Opens the database and builds all parts: this function is the list of what a server is made of. Errors of the
    /// configuration show here, before the server listens.
    ///
    /// - Parameter wallClock: this machine's clock, for times that other systems such as APNs compare with their
    ///   clocks. For times that replicas share, the server uses the database's clock.
    /// - Throws: `ExitError`, which is one line. Before it throws, it closes what it has opened.
    package static func build(
        _ configuration: Configuration, wallClock: @escaping @Sendable () -> Date = { Date() }, logger: Logger
    ) async throws -> Server {
        // Files and addresses, which fail before anything is opened.
        let keyRing = KeyRing(directory: configuration.keyDirectory)
        let console = try Console()
        let certificates = try configuration.tls.map { try TLSCertificates($0, logger: logger) }
        try naming("GRANDSTAND_APNS_CA_FILE") { try configuration.trustRoots.check() }
        let webhookClient = try naming("GRANDSTAND_WEBHOOK_CA_FILE") {
            try WebhookClient(
                settings: .init(
                    networks: configuration.webhookNetworks, timeout: configuration.webhookTimeout,
                    trustedFile: configuration.webhookCAFile),
                now: wallClock)
        }
        for (port, variable) in configuration.ports { try await tryBinding(configuration.host, port, variable) }

        // The database and its clock.
        let metrics = ServerMetrics()
        let watch = DatabaseWatch(logger: logger)
        let database = try await DatabaseSession.connect(
            configuration.database, sizes: PoolSizes(total: configuration.databaseConnections),
            onWait: { metrics.series("grandstand_database_wait_seconds", [$0]).record($1.seconds) },
            onFailure: { watch.saw($0) }, logger: logger
        ).prepared()
        let clock: DatabaseClock
        do {
            clock = try await database.clock(wall: wallClock, logger: logger)
            guard clock.wallState != .unusable else {
                throw ExitError(
                    "this machine's clock is \(DatabaseClock.words(clock.skew)): set both by NTP")
            }
        } catch {
            await database.close()
            throw error
        }
        let now: @Sendable () -> Date = { clock.now }

        // The stores.
        let drain = Drain(configuration.drainTime)
        let counting = metrics.counting
        let stores = Stores(
            Database(database.pool, counting: counting), configuration, session: database)
        let signals = stores.wakeUps
        let keys = KeyStore(database: stores.main, staleLimit: configuration.lookupStaleness, now: now)
        let lookups = LookupReplica(
            store: stores.replicaLookups, keys: keys,
            settings: .init(staleLimit: configuration.lookupStaleness), now: now)
        database.changes.follow {
            lookups.changed($0)
            signals.wakeLocal([.lookups])
        }

        // APNs: the client, and the calls that manage channels.
        let apps = stores.apps
        var client = configuration.apnsSettings()
        client.remember = { app, quirk, value, evidence in
            let quirk = Contract.Quirk(
                environment: .init(app.environment), quirk: quirk, value: value, learnedAt: now(), evidence: evidence)
            try await apps.remember(quirk, for: app)
        }
        client.metrics = metrics
        let gateway = APNsClient(settings: client, keys: keyRing, now: wallClock, logger: logger)
        // Work may not be claimed if this machine's clock is so wrong that Apple would refuse provider tokens.
        let worker = Worker(
            lease: lease, drain: drain, signals: signals, now: now, mayClaim: { clock.mayClaim }, counting: counting,
            logger: logger)
        let calls = ChannelCalls(gateway: gateway, channels: stores.channels, worker: worker)

        // The API and the console.
        let gauges = GaugeWatch(stores.channels, tenure: configuration.tenure, now: now)
        let shares = ConnectionLimit(maximum: configuration.maximumConnections)
        let readiness: @Sendable () -> Contract.Readiness = { .init(watch.active, clock, gateway) }
        let api = API(
            configuration: configuration, stores: stores, keys: keys,
            limits: RateLimits(
                requests: configuration.rateLimit, failures: configuration.authFailureLimit,
                installations: configuration.installationRate),
            lookups: lookups, gateway: gateway, channelOperations: calls, readiness: readiness, metrics: metrics,
            onTrust: { shares.trust($0) }, now: now, logger: logger, console: console)

        // The loops.
        var members: [Member] = []
        func add(_ role: Configuration.Role?, _ name: String, _ body: @escaping @Sendable () async throws -> Void) {
            members.append(Member(role: role, name: name, body: body))
        }
        /// Adds a loop whose rounds do all the work. A round returns when the next one is due; `nil`: after so many seconds.
        func loop(
            _ seconds: TimeInterval, _ role: Configuration.Role?, _ name: String, _ topic: WakeTopic? = nil,
            _ round: @escaping @Sendable () async throws -> Date?
        ) {
            let settings = WorkLoop<Never>.Settings(
                pollInterval: .seconds(seconds), retry: .seconds(min(seconds, 5)), topic: topic)
            let loop = WorkLoop<Never>(settings, failure: "\(name): a round failed", worker) { _, _ in
                .idle(until: try await round())
            }
            add(role, name, loop.run)
        }
        /// Adds a loop that does its work in each interval of so many seconds.
        func every(
            _ seconds: TimeInterval, _ role: Configuration.Role?, _ name: String, _ topic: WakeTopic? = nil,
            _ work: @escaping @Sendable () async throws -> Void
        ) {
            loop(seconds, role, name, topic) {
                try await work()
                return nil
            }
        }
        every(2, nil, "clock") { try await clock.measure() }
        // `/readyz` answers with a check that is at most a second old.
        every(0.9, nil, "database watch") { await watch.check(at: database) }
        add(nil, "signals") {
            await cancelWhenGracefulShutdown { await signals.run(onReconnect: lookups.distrust) }
        }
        every(1, .api, "keys") { try await keys.reload() }
        every(0.5, .api, "lookups", .lookups) { try await lookups.refresh() }
        let runs = calls.reconciling(
            every: configuration.reconcileInterval, configuration.reconciliation(.init(apply: true)))
        add(.reconcile, "reconciler", runs.run)
        every(2, nil, "gateway gauges") {
            gateway.recordGauges()
            for (use, refusal) in gateway.tokens.takeNews() { try await apps.note(refusal, of: use) }
        }
        let calling = calls.callLoop()
        add(.reconcile, "channel calls", calling.run)
        add(.reconcile, "provisioner", calls.alignLoop(configuration.tenure, waking: calling).run)
        let history = Retention.rules(
            history: configuration.historyMaxAge, audit: configuration.auditMaxAge,
            installations: configuration.deviceMaxIdle)
        every(600, .dispatch, "janitor") { try await stores.main.prune(history, now: now) }
        // After each step it rests, so that other work can use the database.
        loop(5, .dispatch, "app remover") { try await apps.removeDeleted() ? now() + 1 : nil }
        every(5, .api, "key uses") { try await keys.writeUses() }
        every(5, .reconcile, "gauges") { try await gauges.look() }
        let posts = WebhookLoop(webhooks: api.webhooks, gateway: webhookClient, worker: worker)
        add(.dispatch, "webhook dispatcher", posts.run)
        loop(1, .dispatch, "scheduler", .schedule) {
            while try await stores.outbox.promote(now: now(), limit: 100) > 0 {}
            return try await stores.outbox.nextScheduled()
        }
        let keyWatch = KeylessApps(fault: { keyRing.fault(of: $0) }, logger: logger)
        // Starts and crowds have separate loops, so that an update about a goal does not wait until a million starts are
        // sent. Both loops of an environment share its limit of simultaneous pushes.
        let crowds = CrowdStore(
            database: stores.work, laneInterval: configuration.laneInterval, rarePause: configuration.infrequentInterval
        )
        var sending: [SendRates] = []
        for environment in APNsEnvironment.allCases {
            // Broadcasts and pushes to devices may fail for different reasons, so each has its own rates and its own lines
            // in the log.
            let rates = [Contract.APNsAPI.broadcast, .device].map {
                SendRates(environment: environment, api: $0, keys: keyWatch, counter: counting, logger: logger)
            }
            sending += rates
            var worker = worker
            worker.logger[metadataKey: "environment"] = "\(environment.rawValue)"
            let dispatcher = Dispatcher(
                outbox: stores.outbox, gateway: gateway, rates: rates[0],
                concurrency: configuration.broadcastSlots, laneInterval: configuration.laneInterval,
                worker: worker)
            let pushes = DevicePushes(
                gateway: gateway, permits: Semaphore(permits: configuration.devicePushSlots),
                rates: rates[1], worker: worker)
            let starts = ShardDispatcher(store: stores.starts, pushes: pushes, topic: .starts)
            let updates = ShardDispatcher(store: crowds, pushes: pushes, topic: .crowds)
            add(.dispatch, "dispatcher", dispatcher.run)
            add(.dispatch, "starts", starts.run)
            add(.dispatch, "crowds", updates.run)
        }

        every(KeylessApps.lookInterval, .dispatch, "send reports") { [sending] in
            try await ThrottledApp.report(sending.flatMap { $0.throttles(at: now()) }, to: stores.main, now: now())
            let lacking = keyWatch.look(try await apps.signers(), at: now())
            try await apps.noteReports(sending.flatMap { $0.drain() }, lacking: lacking, now: now())
        }
        metrics.addSource { [sending] in
            gauges.current + database.gauges + watch.gauges(isClockWrong: clock.wallState == .unusable)
                + [("grandstand_ready", [], readiness().status == .ready ? 1 : 0)]
                + [("grandstand_clock_offset_seconds", [], clock.skew)]
                + (lookups.staleness.map { [("grandstand_lookup_staleness_seconds", [], $0)] } ?? [])
                + sending.flatMap(\.gauges)
        }

        // The listeners, which stop first. Requests in flight may finish within the drain.
        let (ports, listening) = AsyncStream<Int>.makeStream()
        add(.api, "http") {
            let result = await drain.protect {
                try await listen(
                    configuration, port: configuration.port, "listening", api.responder(),
                    lookups: api.lookupResponder(), shares: shares, certificates: certificates, logger: logger
                ) { listening.yield($0) }
            }
            // An error after the drain is not the listener's. It was cancelled because the drain is over.
            if !drain.isOver() { try result.get() }
        }
        if let port = configuration.operationsPort {
            add(nil, "operations") {
                try await listen(configuration, port: port, "operations", api.healthResponder(), logger: logger)
            }
        }
        return Server(
            configuration: configuration, logger: logger, database: database, drain: drain, gateway: gateway,
            keys: keys, members: members, ports: ports, listening: listening)
    }

    /// Names the setting to which the errors of `body` belong.
    private static func naming<Value>(_ setting: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw ExitError("\(setting): \(error)") }
    }

    /// The time within which a stop must end. A stop that takes longer waits for work that cannot be cancelled. `nil`:
    /// the time depends on the embedded PostgreSQL.
    package var longestStop: Duration? {
        if case .url = configuration.database { configuration.drainTime + Drain.margin + .seconds(2) } else { nil }
    }

    /// Closes what `build` opened, if the server is not run.
    package func close() async {
        await gateway.close()
        await database.close()
    }
}

/// Why a program does not go on, in one line with advice. It ends with this line.
package struct ExitError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
    init(_ setting: String, _ why: String) { description = "\(setting): \(why)" }
}
