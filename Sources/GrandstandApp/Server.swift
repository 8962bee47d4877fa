internal import APNsClient
internal import APNsWire
package import FoundationEssentials
package import Grandstand
package import GrandstandAPI
internal import GrandstandConsole
internal import GrandstandService
internal import GrandstandStore
package import Logging
internal import Postgres
internal import ServiceLifecycle
package import UnixSignals
internal import WebhookClient

/// A server, built and not yet running: `serve`, the demo and the end-to-end tests all run this.
package struct Server: Sendable {
    /// For commands and tests that need a key before there is one.
    package let keys: any KeyStore

    private let configuration: Configuration
    private let database: DatabaseSession
    private let clock: DatabaseClock
    private let shares: ConnectionShares
    private let gateway: APNsClient
    private let signals: PostgresWakeSignals
    private let provisioner: Provisioner
    private let reconciler: Reconciler
    private let scheduler: Scheduler
    private let dispatchers: [Dispatcher]
    private let janitor: Janitor
    private let answerJanitor: Janitor
    private let keyUses: KeyUses
    private let certificates: TLSCertificates?
    private let webhookDispatcher: WebhookDispatcher
    private let webhookJanitor: Janitor
    private let quotaWatch: QuotaWatch
    private let views: LiveViews
    private let api: API
    private let lookups: LookupReplica
    private let cachedKeys: CachedKeyStore
    private let logger: Logger

    /// Opens the database and wires everything to it. What can fail fails here, before anything is listened on.
    ///
    /// - Parameter wallClock: this machine's clock. What replicas agree on goes by the database's; this one is for what
    ///   outsiders compare with theirs.
    /// - Throws: `ConfigurationError`, `StartError`: one line each.
    package static func build(
        _ configuration: Configuration, wallClock: @escaping @Sendable () -> Date = { Date() }, logger: Logger
    ) async throws -> Server {
        let keyRing = KeyRing(directory: configuration.keyDirectory)
        if let fault = keyRing.faults().first { throw StartError("GRANDSTAND_APNS_KEY_DIR: \(fault)") }
        let templates = try ConsoleTemplates()
        let certificates = try configuration.tls.map { try TLSCertificates($0, logger: logger) }
        let webhookClient = try webhookClient(configuration, wallClock)
        if configuration.roles.contains(.api) {
            try await ListeningAddress.probe(configuration.host, configuration.port, variable: "GRANDSTAND_PORT")
        }
        if let port = configuration.operationsPort {
            try await ListeningAddress.probe(configuration.host, port, variable: "GRANDSTAND_OPERATIONS_PORT")
        }
        let database = try await DatabaseSession.open(configuration.database, logger: logger)
        let metrics = ServerMetrics()
        let clock: DatabaseClock
        do {
            clock = try await database.clock(wall: wallClock, onLead: metrics.clockOffset, logger: logger)
            try Self.refuseUnusable(clock)
        } catch {
            await database.close()
            throw error
        }
        return Server(
            configuration, database: database, clock: clock, wallClock: wallClock, keyRing: keyRing,
            certificates: certificates, templates: templates, webhookClient: webhookClient, metrics: metrics,
            logger: logger)
    }

    private static func refuseUnusable(_ clock: DatabaseClock) throws(StartError) {
        guard clock.standing == .unusable else { return }
        throw StartError(
            "this machine's clock is \(DatabaseClock.words(clock.lead)); set both machines' clocks by NTP, then start "
                + "again: APNs would refuse what is signed here")
    }

    private static func webhookClient(
        _ configuration: Configuration, _ wallClock: @escaping @Sendable () -> Date
    ) throws -> WebhookClient {
        do {
            return try WebhookClient(
                settings: .init(
                    networks: configuration.webhookNetworks, timeout: configuration.webhookTimeout,
                    trustedFile: configuration.webhookTrustedFile),
                now: wallClock)
        } catch {
            throw StartError("GRANDSTAND_WEBHOOK_CA_FILE: \(error)")
        }
    }

    private init(
        _ configuration: Configuration, database: DatabaseSession, clock: DatabaseClock,
        wallClock: @escaping @Sendable () -> Date, keyRing: KeyRing, certificates: TLSCertificates?,
        templates: ConsoleTemplates, webhookClient: WebhookClient, metrics: ServerMetrics, logger: Logger
    ) {
        let now: @Sendable () -> Date = { clock.now }
        let mayClaim: @Sendable () -> Bool = { clock.mayClaim }
        let shares = ConnectionShares(maximum: configuration.maximumConnections)
        let store = Database(database.pool)
        let lookupSessions = Database(database.lookupPool, sharing: store)
        let callSessions = Database(database.callsPool, sharing: store)
        let apps = PostgresAppStore(store)
        let channels = PostgresChannelStore(store)
        let events = PostgresEventStore(store)
        let departures = LocalDepartures()
        let outbox = PostgresOutbox(
            Database(database.outboxPool, sharing: store), calls: callSessions,
            dispatch: Database(database.dispatchPool, sharing: store), departures: departures,
            outages: OutageLog("the loops could not be woken; they look by themselves", logger))
        let keys = CachedKeyStore(
            PostgresKeyStore(store), staleLimit: configuration.lookupStaleness,
            outages: OutageLog("the API keys could not be read", logger), now: now)
        let lookups = LookupReplica(
            source: PostgresLookupSource(lookupSessions), events: PostgresEventStore(lookupSessions), keys: keys,
            settings: .init(staleLimit: configuration.lookupStaleness), now: now, logger: logger)
        if configuration.roles.contains(.api) { database.changes.follow { lookups.changed($0) } }
        let quirks = PostgresQuirkStore(store)
        let reconciliations = PostgresReconciliationStore(store)

        var settings = configuration.clientSettings()
        settings.tokenStore = PostgresProviderTokenStore(store)
        settings.metrics = metrics.backend
        let gateway = APNsClient(settings: settings, keys: keyRing, now: wallClock, logger: logger)
        let signals = PostgresWakeSignals(database.pool)
        let timeout = configuration.requestTimeout.seconds
        // Longer than two requests to APNs can take.
        let examinationLease = 2 * timeout + 3
        // A creation may wait for somebody else's examination (the wait for yet another replica's, and two calls), read the
        // list, make its own call, and reclaim a place (delete, list) and ask again.
        let channelLease = 8 * timeout + 3
        let watched = CapabilityWatch(gateway: gateway, quirks: quirks, now: now, logger: logger)
        let examinations = Examinations(
            quirks: quirks, lease: examinationLease, patience: timeout, now: now, logger: logger)
        let management = ManagementCalls(gateway: watched, examinations: examinations, now: now)
        let calls = ChannelCalls(
            calls: management, channels: channels, reconciliations: reconciliations, lease: channelLease, now: now,
            logger: logger)
        let desk = ChannelDesk(
            management: management, channels: channels, calls: calls, lease: channelLease, now: now)
        let reconciliation = Reconciliation(
            calls: management, channelCalls: calls, store: reconciliations, lease: channelLease, now: now,
            logger: logger)

        self.configuration = configuration
        self.database = database
        self.clock = clock
        self.shares = shares
        self.gateway = gateway
        self.signals = signals
        self.keys = keys
        cachedKeys = keys
        self.lookups = lookups
        self.logger = logger
        self.certificates = certificates
        let idempotency = PostgresIdempotencyStore(callSessions)
        let keyUses = KeyUses(ledger: keys, logger: logger)
        self.keyUses = keyUses
        answerJanitor = Janitor(
            history: idempotency, settings: .init(keep: PostgresIdempotencyStore.lifetime, of: "kept answers"),
            now: now,
            logger: logger)
        provisioner = Provisioner(
            channels: channels, calls: calls, signals: signals,
            settings: .init(tenure: configuration.tenure, lease: channelLease), now: now, mayClaim: mayClaim,
            logger: logger)
        reconciler = Reconciler(
            store: reconciliations, reconciliation: reconciliation, signals: signals,
            settings: .init(
                interval: configuration.reconcileInterval, grace: configuration.reconcileGrace,
                deleteBudget: configuration.reconcileDeleteBudget),
            now: now, mayClaim: mayClaim, logger: logger)
        let plan = Intake.planning(alertFreshness: configuration.alertFreshness)
        scheduler = Scheduler(outbox: outbox, plan: plan, signals: signals, now: now, logger: logger)
        dispatchers = APNsEnvironment.allCases.map { environment in
            Dispatcher(
                environment: environment, outbox: outbox, departures: departures,
                sends: Sends(gateway: watched, examinations: examinations, now: now), signals: signals,
                settings: .init(
                    concurrency: configuration.broadcastsUnderWay, laneInterval: configuration.laneInterval,
                    lease: Self.laneLease, drain: configuration.drain),
                now: now, mayClaim: mayClaim, logger: logger)
        }
        janitor = Janitor(
            history: PostgresHistory(store), settings: .init(keep: configuration.history), now: now, logger: logger)
        webhookDispatcher = WebhookDispatcher(
            outbox: PostgresWebhookOutbox(store), gateway: webhookClient, signals: signals,
            // Longer than a post can take.
            settings: .init(lease: configuration.webhookTimeout.seconds + 5, drain: configuration.drain),
            now: now, mayClaim: mayClaim, logger: logger)
        webhookJanitor = Janitor(
            history: PostgresWebhookHistory(store), settings: .init(keep: configuration.history, of: "messages"),
            now: now, logger: logger)
        quotaWatch = QuotaWatch(
            channels: channels, levels: PostgresQuotaLevels(store), signals: signals,
            settings: .init(tenure: configuration.tenure), now: now, logger: logger)
        views = LiveViews(
            store: PostgresLiveStore(store), signals: signals,
            settings: .init(maximumStreams: configuration.streams, maximumPerKey: configuration.streamsPerKey),
            now: now, logger: logger)
        let auditLog = PostgresAuditLog(store)
        let readiness = RecentValue(age: .seconds(1), patience: .seconds(2), late: { Readiness.late(gateway) }) {
            await Readiness(of: database, gateway)
        }
        let console = Console(
            Console.Dependencies(
                apps: apps, channels: channels, events: events, outbox: outbox, quirks: quirks, auditLog: auditLog,
                reconciliations: reconciliations, gateway: gateway, tenure: configuration.tenure,
                isSecure: configuration.tls != nil, status: { $0.status }, now: now),
            templates: templates)
        api = API(
            API.Dependencies(
                apps: apps, channels: channels, events: events, lookups: lookups,
                contents: LookupContents(events: events, now: now), outbox: outbox, keys: keys,
                access: API.Access(
                    ledger: keys, memory: keys, uses: keyUses, idempotency: idempotency,
                    limits: RateLimits(
                        .init(
                            requests: configuration.rateLimit > 0 ? configuration.rateLimit : nil,
                            lookups: configuration.lookupRateLimit > 0 ? configuration.lookupRateLimit : nil,
                            failures: configuration.failureLimit > 0 ? configuration.failureLimit : nil)),
                    isSecure: configuration.tls != nil, logger: logger, metrics: metrics,
                    hasOwnOperationsPort: configuration.operationsPort != nil, onTrust: { shares.know($0) }),
                quirks: quirks, auditLog: auditLog, reconciliations: reconciliations, gateway: gateway,
                desk: desk,
                reconciliationDesk: ReconciliationDesk(
                    store: reconciliations, reconciliation: reconciliation, desk: desk, now: now),
                reconciliationLimits: (configuration.reconcileGrace, configuration.reconcileDeleteBudget),
                intake: Intake(outbox: outbox, plan: plan, now: now),
                webhooks: PostgresWebhookStore(store), webhookNetworks: configuration.webhookNetworks, views: views,
                readiness: { await readiness.get() },
                tenure: configuration.tenure, pages: .console(console), now: now))
    }

    /// Runs until `signals` ask for a stop or the task is cancelled: no new requests then, sends under way finish within
    /// the drain time, the rest stays in the outbox; the database is closed last.
    ///
    /// Only the loops of the configured roles run here.
    ///
    /// - Parameter onListening: called with the port once requests are taken; never without the role `api`.
    package func run(
        stoppingOn stopSignals: [UnixSignal] = [], onListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        let http = HTTPServer(
            configuration: configuration, port: configuration.port, responder: api.responder(), desk: api.lookupDesk(),
            shares: shares, certificates: certificates, logger: logger
        ) { [logger, configuration] port in
            logger.info(
                "listening",
                metadata: ["url": "\(configuration.tls == nil ? "http" : "https")://\(configuration.host):\(port)"])
            await onListening(port)
        }
        let operations = HTTPServer(
            configuration: configuration, port: configuration.operationsPort ?? 0,
            responder: api.operationsResponder(), desk: nil, shares: nil, certificates: nil, logger: logger
        ) { [logger, configuration] port in
            logger.info("operations", metadata: ["url": "http://\(configuration.host):\(port)"])
        }
        let roles = configuration.roles
        logger.info("roles", metadata: ["roles": "\(roles.map(\.rawValue).sorted().joined(separator: ","))"])
        // Stopped from the last to the first: live views, the listener, the dispatchers, the rest.
        let sending: [(role: Configuration.Role?, service: any Service, name: String)] = dispatchers.map {
            (.dispatch, $0, "dispatcher")
        }
        let services: [(role: Configuration.Role?, service: any Service, name: String)] =
            [
                (nil, clock, "clock"),
                (nil, SignalService(signals: signals), "signals"),
                (.api, KeyService(keys: cachedKeys), "keys"),
                (.api, lookups, "lookups"),
                (.reconcile, reconciler, "reconciler"),
                (nil, GatewayCare(gateway: gateway, logger: logger), "gateway care"),
                (.reconcile, provisioner, "provisioner"),
                (.dispatch, janitor, "janitor"),
                (.dispatch, answerJanitor, "janitor of answers"),
                (.api, keyUses, "key uses"),
                (.reconcile, quotaWatch, "quota watch"),
                (.dispatch, webhookJanitor, "webhook janitor"),
                (.dispatch, webhookDispatcher, "webhook dispatcher"),
                (.dispatch, scheduler, "scheduler"),
            ] + sending + [
                (.api, http, "http"),
                // Before the listener, which waits for its requests: streams are some.
                (.api, views, "live views"),
            ]
        let ownPort: [(role: Configuration.Role?, service: any Service, name: String)] =
            configuration.operationsPort == nil ? [] : [(nil, operations, "operations")]
        let group = ServiceGroup(
            configuration: .init(
                services: (services + ownPort).filter { $0.role.map(roles.contains) ?? true }
                    .map { .init(service: $0.service, serviceName: $0.name) },
                gracefulShutdownSignals: stopSignals, logger: Self.quiet(logger)))
        // Cancelling the group would cut requests off; a stop is always a graceful one.
        let running = Task { try await group.run() }
        let result = await withTaskCancellationHandler {
            await running.result
        } onCancel: {
            Task { await group.triggerGracefulShutdown() }
        }
        await close()
        try result.get()
    }

    /// Every operation of the API, for comparing it with its contract.
    package var operations: [APIOperation] { api.operations }

    /// Where the database is, for another server beside this one.
    package var databaseURL: String { database.url }

    /// Closes what `build` opened, for a server that is not run.
    package func close() async {
        await gateway.close()
        await database.close()
    }

    /// Seconds a dead replica's lanes wait for another one: they are to move within 10.
    private static let laneLease: TimeInterval = 6

    /// The service group narrates its work at info; that is for debugging.
    private static func quiet(_ logger: Logger) -> Logger {
        var logger = logger
        if logger.logLevel == .info { logger.logLevel = .notice }
        return logger
    }
}

/// Keeps LISTEN going for as long as the loops run.
private struct SignalService: Service {
    let signals: PostgresWakeSignals

    func run() async {
        await cancelWhenGracefulShutdown { await signals.run() }
    }
}

/// Keeps the keys in memory true.
private struct KeyService: Service {
    let keys: CachedKeyStore

    func run() async {
        await cancelWhenGracefulShutdown { await keys.run() }
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: TimeInterval {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
