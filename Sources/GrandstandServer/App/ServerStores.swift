internal import Grandstand
internal import Logging

/// The stores of a server: those that requests use, and those that only the server's own loops use.
struct ServerStores: Sendable {
    let requests: Stores
    let crowds: PostgresCrowdStore
    let keys: CachedKeyStore
    let lookupSource: any LookupSource
    let deletedApps: PostgresAppStore
    /// For what APNs' answers say about apps.
    let apps: PostgresAppStore
    let idempotency: PostgresIdempotencyStore
    let history: PostgresHistory
    let webhookOutbox: PostgresWebhookOutbox
    let quotaLevels: PostgresQuotaLevels
    let gauges: PostgresGaugeStore
    let throttles: PostgresThrottles
    let overview: PostgresOverview
    let consoleSessions: PostgresConsoleSessionStore
    let signals: PostgresWakeSignals

    init(_ configuration: Configuration, _ resources: ServerResources, logger: Logger) {
        let session = resources.database
        let databases = Databases(session, counting: resources.counting)
        let main = databases.main
        signals = PostgresWakeSignals(session.pool)
        requests = Stores(
            databases, signals: signals,
            newInstallations: configuration.appInstallationLimit > 0 ? configuration.appInstallationLimit : nil,
            logger: logger)
        crowds = PostgresCrowdStore(
            databases.dispatch,
            intervals: .init(lane: configuration.laneInterval, rest: configuration.infrequentInterval))
        keys = CachedKeyStore(
            PostgresKeyStore(main), staleLimit: configuration.lookupStaleness,
            outages: OutageLog("the API keys could not be read", logger), now: resources.now)
        lookupSource = PostgresLookupSource(Database(session.lookupPool, sharing: main))
        deletedApps = PostgresAppStore(main.forLongWork)
        apps = PostgresAppStore(main)
        idempotency = PostgresIdempotencyStore(databases.bulk)
        history = PostgresHistory(main)
        webhookOutbox = PostgresWebhookOutbox(main)
        quotaLevels = PostgresQuotaLevels(main)
        gauges = PostgresGaugeStore(main)
        throttles = PostgresThrottles(main)
        overview = PostgresOverview(databases.reports.forLongWork)
        consoleSessions = PostgresConsoleSessionStore(main)
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
