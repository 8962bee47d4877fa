/// The stores, and the database as each kind of work uses it, so that one kind does not wait for another.
struct Stores: Sendable {
    let main, work: Database
    /// For counts of a million rows, which take a second.
    let longReads: Database
    let wakeUps: WakeUps
    let apps: AppStore
    let contentTypes: ContentTypeStore
    let channels: ChannelStore
    let events: EventStore
    /// For lookups with content, and for lookups from memory.
    let lookups, replicaLookups: LookupStore
    let starts: StartStore
    let outbox: Outbox
    let installations: InstallationStore
    let auditLog: AuditLog
    let idempotency: IdempotencyStore

    /// - Parameters:
    ///   - main: the database with the pool `requests`.
    ///   - session: has the other pools; `nil`: all work uses `main`.
    init(
        _ main: Database, _ configuration: Configuration, session: DatabaseSession? = nil
    ) {
        func part(_ pool: PoolSizes.Pool, _ share: PoolSizes.Share? = nil) -> Database {
            guard let session else { return main }
            return Database(session[pool], share: share.map { session.sizes[$0] }, sharing: main)
        }
        let (bulk, longWork) = (part(.requests, .longHeld), main.forLongWork)
        self.main = main
        (work, longReads) = (part(.work), part(.requests, .reports))
        wakeUps = WakeUps(work)
        apps = AppStore(longWork)
        contentTypes = ContentTypeStore(database: main)
        channels = ChannelStore(main)
        events = EventStore(main)
        (lookups, replicaLookups) = (LookupStore(database: main), LookupStore(database: part(.lookups)))
        starts = StartStore(bulk, dispatch: part(.work, .starts), reports: longReads)
        outbox = Outbox(
            main, bulk: bulk, dispatch: work, wakeUps: wakeUps, alertFreshness: configuration.alertFreshness)
        installations = InstallationStore(
            part(.requests, .devices), reading: longWork,
            mostNew: configuration.appInstallationRate > 0 ? configuration.appInstallationRate : nil,
            wakeUps: wakeUps)
        auditLog = AuditLog(database: main)
        idempotency = IdempotencyStore(database: bulk)
    }
}
