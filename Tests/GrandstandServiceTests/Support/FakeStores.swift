internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization

/// The tested code made a call that it must not make.
struct NotScripted: Error {}

/// A ledger that stores what is recorded, returns `spare` as unneeded channels, and does nothing else.
final class FakeLedger: ChannelStore {
    private struct State {
        var outcomes: [ChannelOutcome] = []
        var spare: [ChannelTask]
        var mayBegin: Bool
        var failures = 0
        var reservations: [Result<ChannelTask, Problem>]
    }

    private let state: Mutex<State>
    private let channel: Channel

    /// - Parameter mayBegin: whether a creation still has its lease when its call is about to be sent.
    init(
        _ channel: Channel, spare: [ChannelTask] = [], mayBegin: Bool = true,
        reservations: [Result<ChannelTask, Problem>] = []
    ) {
        self.channel = channel
        state = Mutex(State(spare: spare, mayBegin: mayBegin, reservations: reservations))
    }

    var recorded: [ChannelOutcome] { state.withLock { $0.outcomes } }

    /// Makes the next `count` attempts to record an outcome fail.
    func failNext(_ count: Int) { state.withLock { $0.failures = count } }

    func record(
        _ outcome: ChannelOutcome, of task: ChannelTask, by actor: AuditActor, now: Date
    ) async throws -> Channel {
        try state.withLock { state in
            guard state.failures == 0 else {
                state.failures -= 1
                throw Problem(.storeUnavailable, "down", retryAfter: 1)
            }
            state.outcomes.append(outcome)
        }
        var channel = task.channel.id == channel.id ? channel : task.channel
        if outcome.change == .deleted { channel.state = .deleted }
        return channel
    }

    func reclaim(
        _ app: AppEnvironment, limit: Int, now: Date, leasedUntil: Date
    ) async throws -> [ChannelTask] {
        state.withLock { state in
            defer { state.spare.removeFirst(min(limit, state.spare.count)) }
            return Array(state.spare.prefix(limit))
        }
    }

    func `import`(_ channel: ChannelImport, by actor: AuditActor, now: Date) async throws -> Channel {
        throw NotScripted()
    }

    func unmanagedChannels(
        of bundleID: BundleID, in environment: APNsEnvironment, _ page: PageRequest
    ) async throws -> Page<UnmanagedChannel> { throw NotScripted() }

    func reserve(_ draft: ChannelDraft, now: Date, leasedUntil: Date) async throws -> ChannelTask {
        let next = state.withLock { $0.reservations.isEmpty ? nil : $0.reservations.removeFirst() }
        guard let next else { throw NotScripted() }
        return try next.get()
    }

    func channel(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment
    ) async throws -> Channel? { throw NotScripted() }

    func channels(
        of bundleID: BundleID, in environment: APNsEnvironment, where filter: ChannelFilter, _ page: PageRequest
    ) async throws -> Page<Channel> { throw NotScripted() }

    func align(now: Date, tenure: ChannelTenure) async throws -> Int { throw NotScripted() }

    func claimDue(now: Date, leasedUntil: Date, limit: Int) async throws -> [ChannelTask] { throw NotScripted() }

    func nextDue(now: Date) async throws -> Date? { throw NotScripted() }

    func beginCall(of task: ChannelTask, now: Date) async throws -> Bool { state.withLock { $0.mayBegin } }

    func extendLease(of task: ChannelTask, until: Date) async throws { throw NotScripted() }

    func beginDeletion(
        _ id: UUID, of bundleID: BundleID, in environment: APNsEnvironment, force: Bool, now: Date, leasedUntil: Date
    ) async throws -> ChannelTask { throw NotScripted() }

    func address(of bundleID: BundleID, in environment: APNsEnvironment) async throws -> APNsAddress? {
        throw NotScripted()
    }

    func quotas(now: Date, tenure: ChannelTenure) async throws -> [Quota] { throw NotScripted() }
}

/// The quirks of one app; `fails`: they cannot be stored.
final class FakeQuirks: QuirkStore {
    private let kept = Mutex<[Quirk.Name: Quirk]>([:])
    private let fails: Bool

    init(fails: Bool = false) { self.fails = fails }

    var learned: [Quirk] { kept.withLock { Array($0.values) } }

    func quirks(of bundleID: BundleID) async throws -> [Quirk] { learned }

    func remember(_ quirk: Quirk, for app: AppEnvironment, by actor: AuditActor) async throws {
        if fails { throw NotScripted() }
        kept.withLock { $0[quirk.name] = quirk }
    }
}

/// Records the apps for which a reconciliation was requested, and the lists that were read before creations.
final class FakeReconciliations: ReconciliationStore {
    private let requests = Mutex<[AppEnvironment]>([])
    private let lists = Mutex<[ChannelListing]>([])

    var requested: [AppEnvironment] { requests.withLock { $0 } }
    /// The lists that were recorded before creations.
    var witnessed: [ChannelListing] { lists.withLock { $0 } }

    func witness(
        _ listing: ChannelListing, askedAt: Date, seenAt: Date, _ app: AppEnvironment
    ) async throws { lists.withLock { $0.append(listing) } }

    func request(_ app: AppEnvironment, now: Date) async throws { requests.withLock { $0.append(app) } }

    func claimDue(interval: TimeInterval, now: Date, leasedUntil: Date) async throws -> ReconciliationRun? {
        throw NotScripted()
    }

    func nextDue(interval: TimeInterval, now: Date) async throws -> Date? { throw NotScripted() }

    func begin(_ app: AppEnvironment, now: Date, leasedUntil: Date) async throws -> ReconciliationRun {
        throw NotScripted()
    }

    func extend(_ run: ReconciliationRun, until: Date) async throws { throw NotScripted() }

    func observe(
        _ listing: ChannelListing, listedAt: Date, seenAt: Date, _ run: ReconciliationRun
    ) async throws -> LedgerSnapshot { throw NotScripted() }

    func keep(policies: [String: StoragePolicy], _ run: ReconciliationRun) async throws { throw NotScripted() }

    func apply(
        _ actions: [ReconciliationAction], _ run: ReconciliationRun, by actor: AuditActor, now: Date, leasedUntil: Date
    ) async throws -> (done: [Bool], deletions: [ChannelTask]) { throw NotScripted() }

    func hastenCreations(_ run: ReconciliationRun, now: Date) async throws { throw NotScripted() }

    func finish(
        _ run: ReconciliationRun, _ report: ReconciliationReport, again: Date?, now: Date
    ) async throws { throw NotScripted() }

    func fail(_ run: ReconciliationRun, again: Date, now: Date) async throws { throw NotScripted() }

    func report(_ id: UUID, of app: AppEnvironment) async throws -> [UInt8]? { throw NotScripted() }

    func reports(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<[UInt8]> { throw NotScripted() }
}
