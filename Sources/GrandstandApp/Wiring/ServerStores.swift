internal import Grandstand
internal import GrandstandHTTP
internal import GrandstandService
internal import GrandstandStore
internal import Logging

/// The stores. Separate connection pools keep their traffic apart.
struct ServerStores: Sendable {
    let apps: PostgresAppStore
    let contentTypes: PostgresContentStore
    let channels: PostgresChannelStore
    let events: PostgresEventStore
    let starts: PostgresStartStore
    let outbox: PostgresOutbox
    let crowds: PostgresCrowdStore
    /// Connects the acceptance of broadcasts with the dispatchers of this process.
    let departures: LocalDepartures
    let keys: CachedKeyStore
    let lookupSource: any LookupSource
    let quirks: PostgresQuirkStore
    let reconciliations: PostgresReconciliationStore
    let providerTokens: PostgresProviderTokenStore
    let idempotency: PostgresIdempotencyStore
    let auditLog: PostgresAuditLog
    let history: PostgresHistory
    let webhooks: PostgresWebhookStore
    let webhookOutbox: PostgresWebhookOutbox
    let quotaLevels: PostgresQuotaLevels
    let gauges: PostgresGaugeStore
    let live: PostgresLiveStore
    let sendRates: PostgresSendRates
    let installations: PostgresInstallationStore
    let quotaHistory: PostgresQuotaHistory
    let overview: PostgresOverview
    let consoleSessions: PostgresConsoleSessionStore
    let signals: PostgresWakeSignals

    init(_ configuration: Configuration, _ resources: ServerResources, logger: Logger) {
        let session = resources.database
        let store = Database(session.pool, counting: resources.counting)
        let lookupSessions = Database(session.lookupPool, sharing: store)
        let bulkSessions = Database(session.bulkPool, sharing: store)
        let longWork = store.forLongWork
        apps = PostgresAppStore(longWork)
        contentTypes = PostgresContentStore(longWork)
        channels = PostgresChannelStore(store)
        events = PostgresEventStore(store)
        let dispatchSessions = Database(session.dispatchPool, sharing: store)
        starts = PostgresStartStore(
            bulkSessions, dispatch: Database(session.startPool, sharing: store),
            reports: Database(session.reportPool, sharing: store))
        departures = LocalDepartures()
        outbox = PostgresOutbox(
            Database(session.outboxPool, sharing: store), bulk: bulkSessions,
            dispatch: dispatchSessions, departures: departures,
            outages: OutageLog("the loops could not be woken; they find the work when they poll", logger))
        crowds = PostgresCrowdStore(
            dispatchSessions,
            intervals: .init(
                lane: configuration.laneInterval, rest: configuration.infrequentInterval))
        keys = CachedKeyStore(
            PostgresKeyStore(store), staleLimit: configuration.lookupStaleness,
            outages: OutageLog("the API keys could not be read", logger), now: resources.now)
        lookupSource = PostgresLookupSource(lookupSessions, isStandby: configuration.onlyReads)
        quirks = PostgresQuirkStore(store)
        reconciliations = PostgresReconciliationStore(longWork)
        providerTokens = PostgresProviderTokenStore(store)
        idempotency = PostgresIdempotencyStore(bulkSessions)
        auditLog = PostgresAuditLog(store)
        history = PostgresHistory(store)
        webhooks = PostgresWebhookStore(store)
        webhookOutbox = PostgresWebhookOutbox(store)
        quotaLevels = PostgresQuotaLevels(store)
        gauges = PostgresGaugeStore(store)
        live = PostgresLiveStore(store)
        sendRates = PostgresSendRates(store)
        installations = PostgresInstallationStore(
            Database(session.devicePool, sharing: store), reading: longWork,
            mostNew: configuration.appInstallationLimit > 0 ? configuration.appInstallationLimit : nil,
            outages: OutageLog("the loops of starts could not be woken; they find the work when they poll", logger))
        quotaHistory = PostgresQuotaHistory(store)
        overview = PostgresOverview(Database(session.reportPool, sharing: store).forLongWork)
        consoleSessions = PostgresConsoleSessionStore(store)
        signals = PostgresWakeSignals(session.pool)
    }
}
