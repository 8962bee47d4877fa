package import APNsWire
package import FoundationEssentials
package import Grandstand

/// A `ChannelStore` whose answers the test sets.
package struct FakeChannels: ChannelStore {
    package typealias List = @Sendable (AppEnvironment, ChannelFilter, PageRequest) throws -> Page<Channel>
    package typealias Begin = @Sendable (UUID, AppEnvironment, _ force: Bool) throws -> ChannelTask

    package var find: @Sendable (UUID) throws -> Channel? = unasked
    package var list: List = unasked
    package var unmanaged: @Sendable (AppEnvironment, PageRequest) throws -> Page<UnmanagedChannel> = unasked
    package var intend: @Sendable (ChannelDraft) throws -> ChannelTask = unasked
    package var adopt: @Sendable (ChannelImport) throws -> Channel = unasked
    package var begin: Begin = unasked
    /// The channels that are deleted to free their places.
    package var spare: @Sendable () throws -> [ChannelTask] = unasked
    package var note: @Sendable (ChannelOutcome, ChannelTask) throws -> Channel = unasked
    package var locate: @Sendable (AppEnvironment) throws -> APNsAddress? = unasked
    package var count: @Sendable () throws -> [Quota] = unasked
    /// Whether a creation still has its lease when its call is about to be sent.
    package var beginCall: @Sendable (ChannelTask) throws -> Bool = unasked

    package init() {}

    package func channel(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment
    ) async throws -> Channel? { try find(id) }
    package func channels(
        of bundleID: BundleID, in environment: APNsEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Page<Channel> { try list(.init(bundleID: bundleID, environment: environment), filter, page) }
    package func unmanagedChannels(
        of bundleID: BundleID, in environment: APNsEnvironment, _ page: PageRequest
    ) async throws -> Page<UnmanagedChannel> {
        try unmanaged(.init(bundleID: bundleID, environment: environment), page)
    }
    package func reserve(_ draft: ChannelDraft, now: Date, leasedUntil: Date) async throws -> ChannelTask {
        try intend(draft)
    }
    package func `import`(_ channel: ChannelImport, by actor: AuditActor, now: Date) async throws -> Channel {
        try adopt(channel)
    }
    package func beginDeletion(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask { try begin(id, .init(bundleID: bundleID, environment: environment), force) }
    package func record(
        _ outcome: ChannelOutcome, of task: ChannelTask, by actor: AuditActor, now: Date
    ) async throws -> Channel { try note(outcome, task) }
    package func address(of bundleID: BundleID, in environment: APNsEnvironment) async throws -> APNsAddress? {
        try locate(.init(bundleID: bundleID, environment: environment))
    }
    package func quotas(now: Date, tenure: ChannelTenure) async throws -> [Quota] { try count() }

    package func align(now: Date, tenure: ChannelTenure) async throws -> Int { throw Unasked() }
    package func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask] { throw Unasked() }
    package func nextDue(now: Date) async throws -> Date? { throw Unasked() }
    package func beginCall(of task: ChannelTask, now: Date) async throws -> Bool { try beginCall(task) }
    package func extendLease(of task: ChannelTask, until: Date) async throws { throw Unasked() }
    package func reclaim(
        _ app: AppEnvironment, for creation: UUID?, now: Date, leasedUntil: Date
    ) async throws -> [ChannelTask] { try spare() }
}

/// A `ReconciliationStore` whose answers the test sets. It answers only calls about runs that a person starts, calls
/// about reports, and those of creations. All other calls throw `Unasked`.
package struct FakeReconciliations: ReconciliationStore {
    package var read: @Sendable (UUID, AppEnvironment) throws -> [UInt8]? = unasked
    package var list: @Sendable (AppEnvironment, PageRequest) throws -> Page<[UInt8]> = unasked
    package var start: @Sendable (AppEnvironment) throws -> ReconciliationRun = unasked
    /// What the ledger contains when Apple's list has arrived.
    package var compare: @Sendable (ChannelListing) throws -> LedgerSnapshot = unasked
    package var hold: @Sendable () throws -> Void = unasked
    package var end: @Sendable (ReconciliationReport) throws -> Void = unasked
    /// A list that was read before a creation.
    package var see: @Sendable (ChannelListing) throws -> Void = unasked
    package var want: @Sendable (AppEnvironment) throws -> Void = unasked

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
    package func request(_ app: AppEnvironment, now: Date) async throws { try want(app) }
    package func extend(_ run: ReconciliationRun, until: Date) async throws { try hold() }
    package func witness(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) async throws { try see(listing) }
    package func keep(policies: [String: StoragePolicy], _ run: ReconciliationRun) async throws { throw Unasked() }
    package func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) { throw Unasked() }
    package func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws { throw Unasked() }
}

/// A `QuirkStore` whose answers the test sets.
package struct FakeQuirks: QuirkStore {
    package var keep: @Sendable (Quirk, AppEnvironment) throws -> Void = unasked

    package init() {}

    package func remember(_ quirk: Quirk, for app: AppEnvironment) async throws {
        try keep(quirk, app)
    }
}

/// An `APNsGateway` whose answers the test sets. Its calls cannot throw, so a call that the test does not expect is
/// unanswered.
package struct FakeGateway: APNsGateway {
    package var state = KeyFileState.missing
    package var create: @Sendable (StoragePolicy, APNsAddress) -> APNsAnswer<String> = { _, _ in .unanswered("unasked")
    }
    package var read: @Sendable (String, APNsAddress) -> APNsAnswer<StoragePolicy> = { _, _ in .unanswered("unasked") }
    package var delete: @Sendable (String, APNsAddress) -> APNsAnswer<Void> = { _, _ in .unanswered("unasked") }
    package var list: @Sendable (APNsAddress) -> APNsAnswer<ChannelListing> = { _ in .unanswered("unasked") }

    package init() {}

    package func keyFile(of use: KeyUse) -> KeyFileState { state }
    package func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void> {
        .unanswered("unasked")
    }
    package func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> { create(storagePolicy, address) }
    package func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        read(channelID, address)
    }
    package func deleteChannel(
        _ channelID: String, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<Void> { delete(channelID, address) }
    package func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> { list(address) }
}
