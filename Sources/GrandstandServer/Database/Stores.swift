internal import FoundationEssentials
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
    let main: Database
    var apps: AppStore
    var contentTypes: ContentStore
    var channels: ChannelStore
    var events: EventStore
    /// For lookups with content. `LookupReplica` has its own.
    var lookups: LookupStore
    var starts: StartStore
    var outbox: Outbox
    var reconciliations: ReconciliationStore
    var installations: InstallationStore
    var auditLog: AuditLog
    var quotaHistory: QuotaHistoryStore

    /// - Parameters:
    ///   - signals: wakes the loops of this process right after a commit; `nil`: they are woken by NOTIFY only.
    ///   - alertFreshness: seconds after which an alert is too old, if its broadcast has no `expiresIn`.
    ///   - newInstallations: how many new installations an app accepts in an hour; `nil`: any number.
    init(
        _ databases: Databases, signals: WakeSignals? = nil,
        alertFreshness: TimeInterval = DeliveryPlan.alertFreshness, newInstallations: Int? = nil, logger: Logger
    ) {
        let longWork = databases.main.forLongWork
        apps = AppStore(longWork)
        contentTypes = ContentStore(database: longWork)
        channels = ChannelStore(databases.main)
        events = EventStore(databases.main)
        lookups = LookupStore(database: databases.main)
        starts = StartStore(databases.bulk, dispatch: databases.starts, reports: databases.reports)
        outbox = Outbox(
            databases.outbox, bulk: databases.bulk, dispatch: databases.dispatch, signals: signals,
            outages: OutageLog(
                "the server's tasks could not be told of new work; they find it at their next look", logger),
            alertFreshness: alertFreshness)
        reconciliations = ReconciliationStore(longWork)
        main = databases.main
        installations = InstallationStore(
            databases.devices, reading: longWork, mostNew: newInstallations,
            outages: OutageLog(
                "the server's tasks for starts could not be told of new work; they find it at their next look", logger))
        auditLog = AuditLog(database: databases.main)
        quotaHistory = QuotaHistoryStore(database: databases.main)
    }
}
