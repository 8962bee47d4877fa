package import Grandstand
package import Logging

/// The database with a pool for each kind of work, so that one kind does not wait for another.
package struct Databases: Sendable {
    package var main: Database
    /// The pool for single broadcasts.
    package var outbox: Database
    /// The pool for calls with many broadcasts, and for stored answers of idempotent requests.
    package var bulk: Database
    /// The pool for claims and settlements of broadcasts.
    package var dispatch: Database
    /// The pool for claims and settlements of starts.
    package var starts: Database
    /// The pool for counts that may take long.
    package var reports: Database
    /// The pool for registrations of installations.
    package var devices: Database

    /// Uses one pool for all kinds of work.
    package init(_ database: Database) {
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
package struct Stores: Sendable {
    package var apps: any AppStore
    package var contentTypes: PostgresContentStore
    package var channels: any ChannelStore
    package var events: any EventStore
    package var starts: any StartStore
    package var outbox: any Outbox
    package var quirks: any QuirkStore
    package var reconciliations: any ReconciliationStore
    package var webhooks: any WebhookStore
    package var installations: any InstallationStore
    package var auditLog: PostgresAuditLog
    package var quotaHistory: PostgresQuotaHistory

    /// - Parameters:
    ///   - signals: wakes the loops of this process right after a commit; `nil`: they are woken by NOTIFY only.
    ///   - newInstallations: how many new installations an app accepts in an hour; `nil`: any number.
    package init(
        _ databases: Databases, signals: PostgresWakeSignals? = nil, newInstallations: Int? = nil, logger: Logger
    ) {
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
