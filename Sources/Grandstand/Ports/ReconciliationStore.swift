package import APNsWire
package import FoundationEssentials

/// Reconciliations: their leases, their observations, their changes and their reports.
///
/// A run holds a lease on one app and environment. Each step of a run fails with `ReconciliationLost` if another
/// replica has the lease by now.
package protocol ReconciliationStore: Sendable {
    /// Leases the app and environment that has waited longest. A run is due if a creation was not answered, if Apple
    /// said that it does not know a channel, if somebody requested it, or if `interval` seconds have passed since the
    /// last run (0: never for this reason).
    func claimDue(interval: TimeInterval, now: Date, leasedUntil: Date) async throws -> ReconciliationRun?

    /// When the next run is due; `nil`: never.
    func nextDue(interval: TimeInterval, now: Date) async throws -> Date?

    /// Requests a run as soon as possible, unless Apple's list was read within the last minute.
    func request(_ app: AppEnvironment, now: Date) async throws

    /// Leases one app and environment.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`.
    func begin(_ app: AppEnvironment, now: Date, leasedUntil: Date) async throws -> ReconciliationRun

    func extend(_ run: ReconciliationRun, until: Date) async throws

    /// Records Apple's list: when each channel was first seen, and which channels are no longer listed. The state of
    /// the channels is not changed.
    ///
    /// - Parameters:
    ///   - listedAt: when the list was requested.
    ///   - seenAt: when the list had arrived.
    /// - Returns: the ledger after the list was recorded.
    func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> LedgerSnapshot

    /// Records a complete list that was read just before a creation. A channel that this list lacks and a later list
    /// has was created between the two lists. The call needs no lease, because it only adds first sightings.
    func witness(_ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment) async throws

    /// Stores the storage policies that Apple reported for unmanaged channels.
    func keep(policies: [String: StoragePolicy], _ run: ReconciliationRun) async throws

    /// Performs actions. Each is performed only if the ledger is still as it was when the action was decided. Deletions
    /// are leased to the caller.
    ///
    /// - Returns: which actions were performed, and the deletions to request from Apple.
    func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask])

    /// Makes the app's creations that wait for their next attempt due now, whatever they wait for.
    func hastenCreations(_ run: ReconciliationRun, now: Date) async throws

    /// Stores the report, ends the lease, and requests another run at `again` if that is not `nil`.
    func finish(_ run: ReconciliationRun, _ report: ReconciliationReport, again: Date?, now: Date) async throws

    /// Ends the lease of a failed run. The run is due again at `again`.
    func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws

    /// The report as the API answered it: a JSON object.
    func report(_ id: UUID, of app: AppEnvironment) async throws -> [UInt8]?

    /// Reports, the newest first. A long report has the member `abridged` in place of its lists.
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

/// The lease on one app and environment for a run.
package struct ReconciliationRun: Sendable, Hashable {
    package var id: UUID
    package var address: APNsAddress
    package var startedAt: Date
    /// The number of failed runs since the last successful one.
    package var failures: Int

    package init(id: UUID, address: APNsAddress, startedAt: Date, failures: Int) {
        self.id = id
        self.address = address
        self.startedAt = startedAt
        self.failures = failures
    }
}

/// Another replica has the run's lease. This step changed nothing.
package struct ReconciliationLost: Error {
    package init() {}
}
