package import APNsWire
package import FoundationEssentials

/// Reconciliations: their lease, what they see, what they change, and their reports.
///
/// A run holds a lease on one app and environment; every step of it fails with `ReconciliationLost` once the lease has
/// gone to another replica.
package protocol ReconciliationStore: Sendable {
    /// Leases the app and environment that has waited longest: because a creation went unanswered, Apple said that it
    /// does not know a channel, it was asked for, or `interval` seconds have passed since the last run (0: never
    /// because of that).
    func claimDue(interval: TimeInterval, now: Date, leasedUntil: Date) async throws -> ReconciliationRun?

    /// When the next run will be due; `nil`: never.
    func nextDue(interval: TimeInterval, now: Date) async throws -> Date?

    /// Asks for a run as soon as can be, unless Apple's list was read within the last minute.
    func request(_ app: AppEnvironment, now: Date) async throws

    /// Leases one app and environment.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`.
    func begin(_ app: AppEnvironment, now: Date, leasedUntil: Date) async throws -> ReconciliationRun

    func extend(_ run: ReconciliationRun, until: Date) async throws

    /// Takes down Apple's list: first sights, and what is no longer there. It only observes; channels stay as they are.
    ///
    /// - Parameters:
    ///   - listedAt: when the list was asked for.
    ///   - seenAt: when it had come.
    /// - Returns: the ledger as it is then.
    func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> LedgerSnapshot

    /// Takes down a list that was read whole before a creation is asked for: what it lacks and a later one has came in
    /// between. Needs no lease, for it only adds first sights.
    func witness(_ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment) async throws

    /// Keeps the storage policies that Apple told of unmanaged channels.
    func keep(policies: [String: StoragePolicy], _ run: ReconciliationRun) async throws

    /// Carries out actions, each only if the ledger is still as the action found it. Deletions are leased to the caller.
    ///
    /// - Returns: which were carried out, and the deletions to be asked of Apple.
    func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask])

    /// The app's creations that wait for their next attempt are due now, whatever they wait for.
    func hastenCreations(_ run: ReconciliationRun, now: Date) async throws

    /// Keeps the report, ends the lease, and asks for another run at `again` if that is not `nil`.
    func finish(_ run: ReconciliationRun, _ report: ReconciliationReport, again: Date?, now: Date) async throws

    /// Ends the lease of a run that came to nothing; it is due again at `again`.
    func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws

    /// The report as it was answered, a JSON object.
    func report(_ id: UUID, of app: AppEnvironment) async throws -> [UInt8]?

    /// Reports, the newest first; long ones without their lists, and with `abridged`.
    func reports(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<[UInt8]>
}

extension ReconciliationStore {
    /// - Throws: `app-not-found`, `reconciliation-not-found`.
    package func kept(
        _ id: UUID, of app: AppEnvironment, among apps: any AppStore
    ) async throws -> [UInt8] {
        if let report = try await report(id, of: app) { return report }
        _ = try await apps.registered(app.bundleID)
        throw Problem(
            .reconciliationNotFound,
            "\(app.bundleID) has no reconciliation \(id.uuidString.lowercased()) in \(app.environment.rawValue). The "
                + "last 50 are kept.")
    }
}

/// The right to reconcile one app and environment.
package struct ReconciliationRun: Sendable, Hashable {
    package var id: UUID
    package var address: APNsAddress
    package var startedAt: Date
    /// Runs that failed before it, since the last that did not.
    package var failures: Int

    package init(id: UUID, address: APNsAddress, startedAt: Date, failures: Int) {
        self.id = id
        self.address = address
        self.startedAt = startedAt
        self.failures = failures
    }
}

/// The run's lease went to another replica: nothing was changed by this step.
package struct ReconciliationLost: Error {
    package init() {}
}
