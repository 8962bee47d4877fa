internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// The database with a pool for each kind of work, so that one kind does not wait for another.
struct Databases: Sendable {
    let main: Database
    private var others: [PoolSizes.Pool: Database] = [:]

    init(_ session: DatabaseSession, counting: @escaping Counting) {
        let main = Database(session.pool, counting: counting)
        self.main = main
        for kind in PoolSizes.Pool.allCases where kind != .main {
            others[kind] = Database(session[kind], sharing: main)
        }
    }

    /// Uses one pool for all kinds of work.
    init(_ database: Database) { main = database }

    subscript(kind: PoolSizes.Pool) -> Database { others[kind] ?? main }
}

/// The stores that requests use.
struct Stores: Sendable {
    let main: Database
    let apps: AppStore
    let contentTypes: ContentStore
    let channels: ChannelStore
    let events: EventStore
    /// For lookups with content. `LookupReplica` has its own.
    let lookups: LookupStore
    let starts: StartStore
    let outbox: Outbox
    let reconciliations: ReconciliationStore
    let installations: InstallationStore
    let auditLog: AuditLog
    let quotaHistory: QuotaHistoryStore
    let idempotency: IdempotencyStore

    /// - Parameter signals: wakes the loops of this process right after a commit; `nil`: they are woken by NOTIFY only.
    init(_ databases: Databases, _ configuration: Configuration, signals: WakeSignals? = nil, logger: Logger) {
        main = databases.main
        let longWork = main.forLongWork
        apps = AppStore(longWork)
        contentTypes = ContentStore(database: longWork)
        channels = ChannelStore(main)
        events = EventStore(main)
        lookups = LookupStore(database: main)
        starts = StartStore(databases[.bulk], dispatch: databases[.start], reports: databases[.report])
        outbox = Outbox(
            databases[.outbox], bulk: databases[.bulk], dispatch: databases[.dispatch], signals: signals,
            outages: OutageLog(
                "the server's tasks could not be told of new work; they find it at their next look", logger),
            alertFreshness: configuration.alertFreshness)
        reconciliations = ReconciliationStore(longWork)
        installations = InstallationStore(
            databases[.device], reading: longWork,
            mostNew: configuration.appInstallationLimit > 0 ? configuration.appInstallationLimit : nil,
            outages: OutageLog(
                "the server's tasks for starts could not be told of new work; they find it at their next look", logger))
        auditLog = AuditLog(database: main)
        quotaHistory = QuotaHistoryStore(database: main)
        idempotency = IdempotencyStore(database: databases[.bulk])
    }
}
