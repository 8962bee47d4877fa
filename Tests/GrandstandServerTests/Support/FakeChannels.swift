internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// A `ChannelStore` whose answers the test sets.
struct FakeChannels: ChannelStore {
    typealias List = @Sendable (AppEnvironment, ChannelFilter, PageRequest) throws -> Page<Channel>
    typealias Begin = @Sendable (UUID, AppEnvironment, _ force: Bool) throws -> ChannelTask

    var find: @Sendable (UUID) throws -> Channel? = unasked
    var list: List = unasked
    var unmanaged: @Sendable (AppEnvironment, PageRequest) throws -> Page<UnmanagedChannel> = unasked
    var intend: @Sendable (ChannelDraft) throws -> ChannelTask = unasked
    var adopt: @Sendable (ChannelImport) throws -> Channel = unasked
    var begin: Begin = unasked
    /// The channels that are deleted to free their places.
    var spare: @Sendable () throws -> [ChannelTask] = unasked
    var note: @Sendable (ChannelOutcome, ChannelTask) throws -> Channel = unasked
    var locate: @Sendable (AppEnvironment) throws -> APNsAddress? = unasked
    var count: @Sendable () throws -> [Quota] = unasked
    /// Whether a creation still has its lease when its call is about to be sent.
    var beginCall: @Sendable (ChannelTask) throws -> Bool = unasked

    func channel(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment
    ) async throws -> Channel? { try find(id) }
    func channels(
        of bundleID: BundleID, in environment: APNsEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Page<Channel> { try list(.init(bundleID: bundleID, environment: environment), filter, page) }
    func unmanagedChannels(
        of bundleID: BundleID, in environment: APNsEnvironment, _ page: PageRequest
    ) async throws -> Page<UnmanagedChannel> {
        try unmanaged(.init(bundleID: bundleID, environment: environment), page)
    }
    func reserve(_ draft: ChannelDraft, now: Date, leasedUntil: Date) async throws -> ChannelTask {
        try intend(draft)
    }
    func `import`(_ channel: ChannelImport, by actor: AuditActor, now: Date) async throws -> Channel {
        try adopt(channel)
    }
    func beginDeletion(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask { try begin(id, .init(bundleID: bundleID, environment: environment), force) }
    func record(
        _ outcome: ChannelOutcome, of task: ChannelTask, by actor: AuditActor, now: Date
    ) async throws -> Channel { try note(outcome, task) }
    func address(of bundleID: BundleID, in environment: APNsEnvironment) async throws -> APNsAddress? {
        try locate(.init(bundleID: bundleID, environment: environment))
    }
    func quotas(now: Date, tenure: ChannelTenure) async throws -> [Quota] { try count() }

    func align(now: Date, tenure: ChannelTenure) async throws -> Int { throw Unasked() }
    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask] { throw Unasked() }
    func nextDue(now: Date) async throws -> Date? { throw Unasked() }
    func beginCall(of task: ChannelTask, now: Date) async throws -> Bool { try beginCall(task) }
    func extendLease(of task: ChannelTask, until: Date) async throws { throw Unasked() }
    func reclaim(
        _ app: AppEnvironment, for creation: UUID?, now: Date, leasedUntil: Date
    ) async throws -> [ChannelTask] { try spare() }
}

/// A `ReconciliationStore` whose answers the test sets. It answers only calls about runs that a person starts, calls
/// about reports, and those of creations. All other calls throw `Unasked`.
struct FakeReconciliations: ReconciliationStore {
    var read: @Sendable (UUID, AppEnvironment) throws -> [UInt8]? = unasked
    var list: @Sendable (AppEnvironment, PageRequest) throws -> Page<[UInt8]> = unasked
    var start: @Sendable (AppEnvironment) throws -> ReconciliationRun = unasked
    /// What the ledger contains when Apple's list has arrived.
    var compare: @Sendable (ChannelListing) throws -> LedgerSnapshot = unasked
    var hold: @Sendable () throws -> Void = unasked
    var end: @Sendable (ReconciliationReport) throws -> Void = unasked
    /// A list that was read before a creation.
    var see: @Sendable (ChannelListing) throws -> Void = unasked
    var want: @Sendable (AppEnvironment) throws -> Void = unasked

    func report(_ id: UUID, of app: AppEnvironment) async throws -> [UInt8]? { try read(id, app) }
    func reports(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<[UInt8]> {
        try list(app, page)
    }
    func begin(_ app: AppEnvironment, now: Date, leasedUntil: Date) async throws -> ReconciliationRun {
        try start(app)
    }
    func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> LedgerSnapshot { try compare(listing) }
    func hastenCreations(_ run: ReconciliationRun, now: Date) async throws { throw Unasked() }
    func finish(
        _ run: ReconciliationRun, _ report: ReconciliationReport, again: Date?, now: Date
    ) async throws { try end(report) }

    func claimDue(interval: TimeInterval, now: Date, leasedUntil: Date) async throws -> ReconciliationRun? {
        throw Unasked()
    }
    func nextDue(interval: TimeInterval, now: Date) async throws -> Date? { throw Unasked() }
    func request(_ app: AppEnvironment, now: Date) async throws { try want(app) }
    func extend(_ run: ReconciliationRun, until: Date) async throws { try hold() }
    func witness(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) async throws { try see(listing) }
    func keep(policies: [String: StoragePolicy], _ run: ReconciliationRun) async throws { throw Unasked() }
    func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) { throw Unasked() }
    func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws { throw Unasked() }
}

/// A `QuirkStore` whose answers the test sets.
struct FakeQuirks: QuirkStore {
    var keep: @Sendable (Quirk, AppEnvironment) throws -> Void = unasked

    func remember(_ quirk: Quirk, for app: AppEnvironment) async throws {
        try keep(quirk, app)
    }
}

/// An `APNsGateway` whose answers the test sets. Its calls cannot throw, so a call that the test does not expect is
/// unanswered.
struct FakeGateway: APNsGateway {
    var state = KeyFileState.missing
    var create: @Sendable (StoragePolicy, APNsAddress) -> APNsAnswer<String> = { _, _ in .unanswered("unasked")
    }
    var read: @Sendable (String, APNsAddress) -> APNsAnswer<StoragePolicy> = { _, _ in .unanswered("unasked") }
    var delete: @Sendable (String, APNsAddress) -> APNsAnswer<Void> = { _, _ in .unanswered("unasked") }
    var list: @Sendable (APNsAddress) -> APNsAnswer<ChannelListing> = { _ in .unanswered("unasked") }

    func keyFile(of use: KeyUse) -> KeyFileState { state }
    func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void> {
        .unanswered("unasked")
    }
    func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> { create(storagePolicy, address) }
    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        read(channelID, address)
    }
    func deleteChannel(
        _ channelID: String, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<Void> { delete(channelID, address) }
    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> { list(address) }
}
