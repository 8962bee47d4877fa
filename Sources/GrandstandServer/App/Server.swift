internal import APNsWire
package import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTP2
package import Logging
internal import Postgres
internal import ServiceLifecycle
internal import UnixSignals

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
    /// Every part that runs, but the listeners, in the order of their start. They stop in reverse order.
    let members: [Member]
    /// Makes the listeners. They start last and stop first.
    let listeners: @Sendable (_ onListening: @escaping @Sendable (Int) async -> Void) -> [Member]

    /// Seconds until the work of a dead replica is taken over. It is short, because the work has to continue within 10
    /// seconds. Whoever still works extends the lease.
    static let lease: TimeInterval = 6

    /// Opens the database and builds all parts: this function is the list of what a server is made of. Errors of the
    /// configuration show here, before the server listens.
    ///
    /// - Parameter wallClock: this machine's clock, for times that other systems such as APNs compare with their
    ///   clocks. For times that replicas share, the server uses the database's clock.
    /// - Throws: `ConfigurationError`, `StartError`; each is one line. Before it throws, it closes what it has opened.
    package static func build(
        _ configuration: Configuration, wallClock: @escaping @Sendable () -> Date = { Date() }, logger: Logger
    ) async throws -> Server {
        // Files and addresses, which fail before anything is opened.
        let keyRing = KeyRing(directory: configuration.keyDirectory)
        let templates = try ConsoleTemplates()
        let certificates = try configuration.tls.map { try TLSCertificates($0, logger: logger) }
        try naming("GRANDSTAND_APNS_CA_FILE") { try configuration.trustRoots.check() }
        let webhookClient = try naming("GRANDSTAND_WEBHOOK_CA_FILE") {
            try WebhookClient(
                settings: .init(
                    networks: configuration.webhookNetworks, timeout: configuration.webhookTimeout,
                    trustedFile: configuration.webhookTrustedFile),
                now: wallClock)
        }
        if configuration.roles.contains(.api) {
            try await ListeningAddress.probe(configuration.host, configuration.port, variable: "GRANDSTAND_PORT")
        }
        if let port = configuration.operationsPort {
            try await ListeningAddress.probe(configuration.host, port, variable: "GRANDSTAND_OPERATIONS_PORT")
        }

        // The database and its clock.
        let metrics = ServerMetrics()
        let watch = DatabaseWatch(logger: logger)
        let database = try await DatabaseSession.open(
            configuration.database, sizes: PoolSizes(total: configuration.databaseConnections),
            onWait: { metrics.series("grandstand_database_wait_seconds", [("pool", $0)]).record($1.seconds) },
            onFailure: { watch.saw($0) }, logger: logger)
        let clock: DatabaseClock
        do {
            let offset = metrics.series("grandstand_clock_offset_seconds")
            clock = try await database.clock(wall: wallClock, onLead: { offset.record($0) }, logger: logger)
            guard clock.standing != .unusable else {
                throw StartError(
                    "this machine's clock is \(DatabaseClock.words(clock.lead)); set both machines' clocks by NTP, then "
                        + "start again: APNs would refuse tokens that are signed here")
            }
        } catch {
            await database.close()
            throw error
        }
        let now: @Sendable () -> Date = { clock.now }

        // The stores.
        let drain = Drain(configuration.drain)
        let counting = metrics.counting
        let stores = Stores(
            Database(database.pool, counting: counting), configuration, session: database, logger: logger)
        let signals = stores.wakeUps
        let keys = KeyStore(database: stores.main, staleLimit: configuration.lookupStaleness, now: now)
        let lookups = LookupReplica(
            store: stores.replicaLookups, keys: keys,
            settings: .init(staleLimit: configuration.lookupStaleness), now: now)
        database.changes.follow { lookups.changed($0) }

        // APNs: the client, and the calls that manage channels.
        let apps = stores.apps
        var client = configuration.clientSettings()
        client.remember = { quirk, app in
            var quirk = quirk
            quirk.learnedAt = now()
            try await apps.remember(quirk, for: app)
        }
        client.metrics = metrics
        let gateway = APNsClient(settings: client, keys: keyRing, now: wallClock, logger: logger)
        let calls = ChannelCalls(
            gateway: gateway, channels: stores.channels, lease: lease, now: now, logger: logger, counting: counting)

        // The API and the console.
        let gauges = GaugeWatch(stores.main, channels: stores.channels, tenure: configuration.tenure, now: now)
        let shares = ConnectionShares(maximum: configuration.maximumConnections)
        let readiness: @Sendable () -> Contract.Readiness = { .init(watch.standing, clock, gateway) }
        // What this process learns of APNs in each environment. Broadcasts and pushes to devices may fail for different
        // reasons, so each has its own rates and its own lines in the log.
        let sending = APNsEnvironment.allCases.map { environment in
            func rates(_ api: Contract.APNsAPI) -> SendRates {
                SendRates(environment: environment, api: api, counting: counting, logger: logger)
            }
            return (
                environment: environment, broadcasts: rates(.broadcast), devices: rates(.device),
                accounts: [SendAccounts(environment: environment), SendAccounts(environment: environment)]
            )
        }
        let rates = sending.flatMap { [$0.broadcasts, $0.devices] }
        let accounts = sending.flatMap(\.accounts)
        metrics.tell {
            gauges.current + Gauges.of(database) + watch.gauges(isClockWrong: clock.standing == .unusable)
                + [GaugeSample("grandstand_ready", readiness().status == .ready ? 1 : 0)] + Gauges.of(lookups)
                + rates.flatMap { Gauges.of($0) }
        }
        let api = API(
            configuration: configuration, stores: stores, keys: keys,
            limits: RateLimits(
                requests: configuration.rateLimit, failures: configuration.failureLimit,
                installations: configuration.installationLimit),
            lookups: lookups, gateway: gateway, channelOperations: calls, readiness: readiness, metrics: metrics,
            onTrust: { shares.know($0) }, now: now, logger: logger, console: Console(templates: templates))

        // The loops. Work may not be claimed if this machine's clock is so wrong that Apple would refuse provider tokens.
        let mayClaim: @Sendable () -> Bool = { clock.mayClaim }
        let tenure = configuration.tenure
        var members: [Member] = []
        /// Adds a loop whose rounds do all the work. A round returns when the next one is due; `nil`: after the interval.
        /// `atEnd` runs after the last round.
        func loop(
            _ role: Configuration.Role?, _ name: String, _ settings: WorkLoop<Never>.Settings, _ failure: String,
            wakenBy wakes: AsyncStream<Void>? = nil, atEnd: @escaping @Sendable () async -> Void = {},
            _ round: @escaping @Sendable () async throws -> Date?
        ) {
            let loop = WorkLoop<Never>(settings, failure: failure, logger: logger, now: now) { _, _ in
                .idle(until: try await round())
            }
            members.append(
                Member(role, name) {
                    await loop.run(wakenBy: wakes)
                    // In a separate task, because the present task may be cancelled.
                    await Task { await atEnd() }.value
                })
        }
        loop(nil, "clock", .every(2), "the database's clock could not be read") {
            try await clock.measure()
            return nil
        }
        // `/readyz` answers with a check that is at most a second old.
        loop(nil, "database watch", .every(0.9), "the database could not be checked") {
            await watch.look(with: DatabaseProbe(database[.probe]))
            return nil
        }
        members.append(Member(nil, "signals") { await cancelWhenGracefulShutdown { await signals.run() } })
        loop(.api, "keys", .every(1), "the API keys could not be read", wakenBy: keys.changes) {
            // A reading takes no longer than one of a request, because requests may wait for it.
            try await PostgresTimeLimit.$current.withValue(.request()) { try await keys.reload() }
            return nil
        }
        members.append(Member(.api, "announcements") { await cancelWhenGracefulShutdown { await lookups.listen() } })
        loop(
            .api, "lookups", .every(0.5), "lookups could not be confirmed; they are answered from memory",
            wakenBy: lookups.wakes
        ) {
            try await lookups.refresh()
            return nil
        }
        if let certificates {
            loop(.api, "TLS files", .every(1), "the TLS files could not be read") {
                certificates.reloadIfChanged()
                return nil
            }
        }
        let runs = calls.reconciling(
            every: configuration.reconcileInterval,
            ReconciliationOptions(
                apply: true, grace: configuration.reconcileGrace, deleteBudget: configuration.reconcileDeleteBudget),
            mayClaim: mayClaim)
        members.append(Member(.reconcile, "reconciler") { await runs.run(wakenBy: signals.wakes(.channels)) })
        members.append(
            Member(nil, "key files") {
                await cancelWhenGracefulShutdown {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) {
                        keyRing.forget()
                        logger.notice("key files will be read again")
                    }
                }
            })
        loop(nil, "gateway gauges", .every(2), "whether APNs accepts a key could not be stored") {
            gateway.recordGauges()
            for (use, refusal) in gateway.tokens.news() { try await apps.note(refusal, of: use) }
            return nil
        }
        let calling = calls.calling(mayClaim: mayClaim)
        let aligning = calls.aligning(tenure, waking: calling)
        members.append(Member(.reconcile, "channel calls") { await calling.run() })
        members.append(Member(.reconcile, "provisioner") { await aligning.run(wakenBy: signals.wakes(.channels)) })
        let janitor = Janitor(
            rules: PostgresHistory(stores.main).rules(
                history: configuration.history, audit: configuration.audit, installations: configuration.installations),
            now: now, logger: logger)
        loop(.dispatch, "janitor", .every(600), "history could not be deleted") {
            await janitor.round() ? nil : now() + 5
        }
        // After each step it rests for as long as the step took, so that other work can use the database.
        loop(
            .dispatch, "app remover", .init(restPerRound: 1, pollInterval: .seconds(5), retry: .seconds(5)),
            "the remaining rows of deleted apps could not be removed"
        ) { try await apps.removeDeleted() ? now() : nil }
        loop(
            .api, "key uses", .every(5), "the last uses of keys could not be written",
            atEnd: { try? await keys.writeUses() }
        ) {
            try await keys.writeUses()
            return nil
        }
        loop(.reconcile, "gauges", .every(5), "quotas and the values for the database's metrics could not be read") {
            try await gauges.look()
            return nil
        }
        let posts = WebhookPosts(
            webhooks: api.webhooks, gateway: webhookClient, signals: signals, lease: lease,
            drain: drain, now: now, mayClaim: mayClaim, counting: counting, logger: logger)
        members.append(Member(.dispatch, "webhook dispatcher", posts.run))
        loop(
            .dispatch, "scheduler", .every(1), "scheduled broadcasts could not be sent to their lanes",
            wakenBy: signals.wakes(.schedule)
        ) {
            while try await stores.outbox.promote(now: now(), limit: 100) > 0 {}
            return try await stores.outbox.nextScheduled()
        }
        let keyWatch = KeyWatch(fault: { keyRing.fault(of: $0) }, logger: logger)
        let throttles = PostgresThrottles(stores.main)
        loop(
            .dispatch, "send reports", .every(KeyWatch.interval), "what APNs accepts of each app could not be stored"
        ) {
            try await throttles.report(rates.flatMap { $0.throttles(at: now()) }, now: now())
            let lacking = keyWatch.look(try await apps.signers(), at: now())
            try await apps.note(accounts.flatMap { $0.reports() }, lacking: lacking, now: now())
            return nil
        }
        for sending in sending {
            let dispatcher = Dispatcher(
                environment: sending.environment, outbox: stores.outbox, gateway: gateway,
                rates: sending.broadcasts, accounts: sending.accounts[0], keys: keyWatch, signals: signals,
                settings: .init(
                    concurrency: configuration.broadcastsUnderWay, laneInterval: configuration.laneInterval,
                    lease: lease, drain: drain),
                now: now, mayClaim: mayClaim, counting: counting, logger: logger)
            members.append(Member(.dispatch, "dispatcher", dispatcher.run))
        }
        // Starts and crowds have separate loops, so that an update about a goal does not wait until a million starts are
        // sent. Both loops of an environment share its limit of simultaneous pushes.
        let crowds = CrowdStore(
            database: stores.work, laneInterval: configuration.laneInterval,
            rest: configuration.infrequentInterval)
        for sending in sending {
            let pushes = DevicePushes(
                gateway: gateway, places: Semaphore(permits: configuration.devicePushesUnderWay),
                rates: sending.devices, accounts: sending.accounts[1], keys: keyWatch, now: now)
            let starts = ShardDispatcher(
                environment: sending.environment, store: stores.starts, pushes: pushes, signals: signals,
                topic: .starts, lease: lease, drain: drain, now: now, mayClaim: mayClaim,
                onSettled: { verdicts in
                    for verdict in verdicts {
                        if let state = StartState(verdict) { counting(.started(state, reason: verdict.reason)) }
                    }
                }, logger: logger)
            let updates = ShardDispatcher(
                environment: sending.environment, store: crowds, pushes: pushes, signals: signals,
                topic: .crowds(sending.environment), lease: lease, drain: drain, now: now, mayClaim: mayClaim,
                logger: logger)
            members += [Member(.dispatch, "starts", starts.run), Member(.dispatch, "crowds", updates.run)]
        }

        // The listeners. Requests in flight may finish within the drain.
        let listeners: @Sendable (@escaping @Sendable (Int) async -> Void) -> [Member] = { onListening in
            let http = Member(.api, "http") {
                do {
                    try await drain.run {
                        try await listen(
                            configuration, port: configuration.port, api.responder(), lookups: api.lookupResponder(),
                            shares: shares, certificates: certificates, logger: logger
                        ) { port in
                            let scheme = configuration.tls == nil ? "http" : "https"
                            logger.info("listening", metadata: ["url": "\(scheme)://\(configuration.host):\(port)"])
                            await onListening(port)
                        }
                    }.get()
                } catch  where drain.isOver() {
                    // This is not an error of the listener. It was cancelled because the drain is over.
                }
            }
            guard let port = configuration.operationsPort else { return [http] }
            let operations = Member(nil, "operations") {
                try await listen(configuration, port: port, api.operationsResponder(), logger: logger) { port in
                    logger.info("operations", metadata: ["url": "http://\(configuration.host):\(port)"])
                }
            }
            return [http, operations]
        }
        return Server(
            configuration: configuration, logger: logger, database: database, drain: drain, gateway: gateway,
            keys: keys, members: members, listeners: listeners)
    }

    /// Names the setting to which the errors of `body` belong.
    private static func naming<Value>(_ setting: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw StartError("\(setting): \(error)") }
    }

    /// The database's connection string, for a second server on the same database.
    package var databaseURL: String { database.url }

    /// The time within which a stop must end. A stop that takes longer waits for work that cannot be cancelled. `nil`:
    /// the time depends on the embedded PostgreSQL.
    package var longestStop: Duration? {
        if case .url = configuration.database { configuration.drain + Drain.margin + .seconds(2) } else { nil }
    }

    /// Closes what `build` opened, if the server is not run.
    package func close() async {
        await gateway.close()
        await database.close()
    }
}

extension Server {
    /// A part of the running server, with the role that needs it; `nil`: it always runs.
    struct Member: Service {
        let role: Configuration.Role?
        let name: String
        private let body: @Sendable () async throws -> Void

        /// - Parameter body: ends by itself at the graceful shutdown.
        init(_ role: Configuration.Role?, _ name: String, _ body: @escaping @Sendable () async throws -> Void) {
            self.role = role
            self.name = name
            self.body = body
        }

        func run() async throws { try await body() }
    }
}

extension WorkLoop<Never>.Settings {
    /// A round in each interval of so many seconds.
    static func every(_ seconds: TimeInterval) -> Self {
        .init(pollInterval: .seconds(seconds), retry: .seconds(min(seconds, 5)))
    }
}

/// Why a server did not start, in one line with advice.
package struct StartError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
