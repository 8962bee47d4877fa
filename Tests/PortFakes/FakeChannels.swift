package import APNsWire
package import FoundationEssentials
package import Grandstand

/// A `ChannelStore` whose answers the test sets.
package struct FakeChannels: ChannelStore {
    package typealias List = @Sendable (AppEnvironment, ChannelFilter, PageRequest) throws -> Page<Channel>
    package typealias Begin = @Sendable (UUID, AppEnvironment, _ force: Bool) throws -> ChannelTask

    package var find: @Sendable (UUID) throws -> Channel? = { _ in throw Unasked() }
    package var list: List = { _, _, _ in throw Unasked() }
    package var unmanaged: @Sendable (AppEnvironment, PageRequest) throws -> Page<UnmanagedChannel> = {
        _, _ in throw Unasked()
    }
    package var intend: @Sendable (ChannelDraft) throws -> ChannelTask = { _ in throw Unasked() }
    package var adopt: @Sendable (ChannelImport) throws -> Channel = { _ in throw Unasked() }
    package var begin: Begin = { _, _, _ in throw Unasked() }
    /// The channels that are deleted to free their places.
    package var spare: @Sendable () throws -> [ChannelTask] = { throw Unasked() }
    package var note: @Sendable (ChannelOutcome, ChannelTask) throws -> Channel = { _, _ in throw Unasked() }
    package var locate: @Sendable (AppEnvironment) throws -> APNsAddress? = { _ in throw Unasked() }
    package var count: @Sendable () throws -> [Quota] = { throw Unasked() }

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
    package func beginCall(of task: ChannelTask, now: Date) async throws -> Bool { throw Unasked() }
    package func extendLease(of task: ChannelTask, until: Date) async throws { throw Unasked() }
    package func reclaim(
        _ app: AppEnvironment, limit: Int, now: Date, leasedUntil: Date
    ) async throws -> [ChannelTask] { try spare() }
}
