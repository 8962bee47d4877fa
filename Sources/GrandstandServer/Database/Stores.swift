internal import Grandstand
internal import Logging

/// The database with a pool for each kind of work, so that one kind does not wait for another.
struct Databases: Sendable {
    var main: Database
    /// The pool for single broadcasts.
    var outbox: Database
    /// The pool for calls with many broadcasts, and for stored answers of idempotent requests.
    var bulk: Database
    /// The pool for claims and settlements of broadcasts.
    var dispatch: Database
    /// The pool for claims and settlements of starts.
    var starts: Database
    /// The pool for counts that may take long.
    var reports: Database
    /// The pool for registrations of installations.
    var devices: Database

    /// Uses one pool for all kinds of work.
    init(_ database: Database) {
        main = database
        outbox = database
        bulk = database
        dispatch = database
        starts = database
        reports = database
        devices = database
    }
}

/// The stores that requests use. A test may replace a single store.
struct Stores: Sendable {
    var apps: any AppStore
    var contentTypes: PostgresContentStore
    var channels: any ChannelStore
    var events: any EventStore
    var starts: any StartStore
    var outbox: any Outbox
    var quirks: any QuirkStore
    var reconciliations: any ReconciliationStore
    var webhooks: any WebhookStore
    var installations: any InstallationStore
    var auditLog: PostgresAuditLog
    var quotaHistory: PostgresQuotaHistory

    /// - Parameters:
    ///   - signals: wakes the loops of this process right after a commit; `nil`: they are woken by NOTIFY only.
    ///   - newInstallations: how many new installations an app accepts in an hour; `nil`: any number.
    init(_ databases: Databases, signals: PostgresWakeSignals? = nil, newInstallations: Int? = nil, logger: Logger) {
        let longWork = databases.main.forLongWork
        apps = PostgresAppStore(longWork)
        contentTypes = PostgresContentStore(longWork)
        channels = PostgresChannelStore(databases.main)
        events = PostgresEventStore(databases.main)
        starts = PostgresStartStore(databases.bulk, dispatch: databases.starts, reports: databases.reports)
        outbox = PostgresOutbox(
            databases.outbox, bulk: databases.bulk, dispatch: databases.dispatch, signals: signals,
            outages: OutageLog(
                "the server's tasks could not be told of new work; they find it at their next look", logger))
        quirks = PostgresAppStore(databases.main)
        reconciliations = PostgresReconciliationStore(longWork)
        webhooks = PostgresWebhookStore(databases.main)
        installations = PostgresInstallationStore(
            databases.devices, reading: longWork, mostNew: newInstallations,
            outages: OutageLog(
                "the server's tasks for starts could not be told of new work; they find it at their next look", logger))
        auditLog = PostgresAuditLog(databases.main)
        quotaHistory = PostgresQuotaHistory(databases.main)
    }
}
