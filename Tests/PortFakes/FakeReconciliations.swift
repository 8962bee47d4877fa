package import APNsWire
package import FoundationEssentials
package import Grandstand

/// A `ReconciliationStore` whose answers the test sets. It answers only calls about runs that a person starts, and
/// calls about reports. All other calls throw `Unasked`.
package struct FakeReconciliations: ReconciliationStore {
    package var read: @Sendable (UUID, AppEnvironment) throws -> [UInt8]? = { _, _ in throw Unasked() }
    package var list: @Sendable (AppEnvironment, PageRequest) throws -> Page<[UInt8]> = { _, _ in throw Unasked() }
    package var start: @Sendable (AppEnvironment) throws -> ReconciliationRun = { _ in throw Unasked() }
    /// What the ledger contains when Apple's list has arrived.
    package var compare: @Sendable (ChannelListing) throws -> LedgerSnapshot = { _ in throw Unasked() }
    package var hold: @Sendable () throws -> Void = { throw Unasked() }
    package var end: @Sendable (ReconciliationReport) throws -> Void = { _ in throw Unasked() }

    package init() {}

    package func report(_ id: UUID, of app: AppEnvironment) async throws -> [UInt8]? { try read(id, app) }
    package func reports(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<[UInt8]> {
        try list(app, page)
    }
    package func begin(_ app: AppEnvironment, now: Date, leasedUntil: Date) async throws -> ReconciliationRun {
        try start(app)
    }
    package func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> LedgerSnapshot { try compare(listing) }
    package func hastenCreations(_ run: ReconciliationRun, now: Date) async throws { throw Unasked() }
    package func finish(
        _ run: ReconciliationRun, _ report: ReconciliationReport, again: Date?, now: Date
    ) async throws { try end(report) }

    package func claimDue(interval: TimeInterval, now: Date, leasedUntil: Date) async throws -> ReconciliationRun? {
        throw Unasked()
    }
    package func nextDue(interval: TimeInterval, now: Date) async throws -> Date? { throw Unasked() }
    package func request(_ app: AppEnvironment, now: Date) async throws { throw Unasked() }
    package func extend(_ run: ReconciliationRun, until: Date) async throws { try hold() }
    package func witness(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) async throws { throw Unasked() }
    package func keep(policies: [String: StoragePolicy], _ run: ReconciliationRun) async throws { throw Unasked() }
    package func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) { throw Unasked() }
    package func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws { throw Unasked() }
}
