internal import Grandstand
internal import Logging

/// The stores of a server: those that requests use, and those that only the server's own loops use.
struct ServerStores: Sendable {
    let requests: Stores
    let crowds: CrowdStore
    let keys: CachedKeyStore
    let lookups: LookupStore
    let deletedApps: AppStore
    /// For what APNs' answers say about apps.
    let apps: AppStore
    let idempotency: IdempotencyStore
    let history: PostgresHistory
    let webhookOutbox: WebhookOutbox
    let quotaLevels: QuotaLevels
    let gauges: GaugeStore
    let throttles: PostgresThrottles
    let overview: PostgresOverview
    let consoleSessions: ConsoleSessionStore
    let signals: WakeSignals

    init(_ configuration: Configuration, _ resources: ServerResources, logger: Logger) {
        let session = resources.database
        let databases = Databases(session, counting: resources.counting)
        let main = databases.main
        signals = WakeSignals(session.pool)
        requests = Stores(
            databases, signals: signals,
            alertFreshness: configuration.alertFreshness,
            newInstallations: configuration.appInstallationLimit > 0 ? configuration.appInstallationLimit : nil,
            logger: logger)
        crowds = CrowdStore(
            database: databases.dispatch,
            intervals: .init(lane: configuration.laneInterval, rest: configuration.infrequentInterval))
        keys = CachedKeyStore(
            KeyStore(database: main), staleLimit: configuration.lookupStaleness,
            outages: OutageLog("the API keys could not be read", logger), now: resources.now)
        lookups = LookupStore(database: Database(session.lookupPool, sharing: main))
        deletedApps = AppStore(main.forLongWork)
        apps = AppStore(main)
        idempotency = IdempotencyStore(database: databases.bulk)
        history = PostgresHistory(main)
        webhookOutbox = WebhookOutbox(database: main)
        quotaLevels = QuotaLevels(database: main)
        gauges = GaugeStore(database: main)
        throttles = PostgresThrottles(main)
        overview = PostgresOverview(databases.reports.forLongWork)
        consoleSessions = ConsoleSessionStore(database: main)
    }
}

extension Databases {
    /// The pools of an open database.
    fileprivate init(_ session: DatabaseSession, counting: @escaping Counting) {
        let main = Database(session.pool, counting: counting)
        self.init(main)
        outbox = Database(session.outboxPool, sharing: main)
        bulk = Database(session.bulkPool, sharing: main)
        dispatch = Database(session.dispatchPool, sharing: main)
        starts = Database(session.startPool, sharing: main)
        reports = Database(session.reportPool, sharing: main)
        devices = Database(session.devicePool, sharing: main)
    }
}
