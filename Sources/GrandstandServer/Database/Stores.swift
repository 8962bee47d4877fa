internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// The database as each kind of work uses it, so that one kind does not wait for another.
struct Databases: Sendable {
    let requests, bulk, devices, reports: Database
    let work, starts: Database
    let lookups: Database

    /// - Parameters:
    ///   - requests: the database with the pool `requests`.
    ///   - session: has the other pools; `nil`: all work uses `requests`.
    init(_ requests: Database, _ session: DatabaseSession? = nil) {
        func part(_ pool: PoolSizes.Pool, _ share: PoolSizes.Share? = nil) -> Database {
            guard let session else { return requests }
            return Database(session[pool], share: share.map { session.sizes[$0] }, sharing: requests)
        }
        self.requests = requests
        (bulk, devices, reports) = (part(.requests, .bulk), part(.requests, .devices), part(.requests, .reports))
        (work, starts, lookups) = (part(.work), part(.work, .starts), part(.lookups))
    }
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
    let idempotency: IdempotencyStore

    init(_ databases: Databases, _ configuration: Configuration, wakeUps: WakeUps) {
        main = databases.requests
        let longWork = main.forLongWork
        apps = AppStore(longWork)
        contentTypes = ContentStore(database: longWork)
        channels = ChannelStore(main)
        events = EventStore(main)
        lookups = LookupStore(database: main)
        starts = StartStore(databases.bulk, dispatch: databases.starts, reports: databases.reports)
        outbox = Outbox(
            main, bulk: databases.bulk, dispatch: databases.work, wakeUps: wakeUps,
            alertFreshness: configuration.alertFreshness)
        reconciliations = ReconciliationStore(longWork)
        installations = InstallationStore(
            databases.devices, reading: longWork,
            mostNew: configuration.appInstallationLimit > 0 ? configuration.appInstallationLimit : nil,
            wakeUps: wakeUps)
        auditLog = AuditLog(database: main)
        idempotency = IdempotencyStore(database: databases.bulk)
    }
}
