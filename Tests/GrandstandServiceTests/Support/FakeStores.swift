internal import APNsWire
internal import Grandstand
internal import PortFakes
internal import Synchronization

/// The tested code made a call that it must not make.
struct NotScripted: Error {}

/// A ledger that stores what is recorded, returns `spare` as unneeded channels, and does nothing else.
final class FakeLedger: Sendable {
    private struct State {
        var outcomes: [ChannelOutcome] = []
        var spare: [ChannelTask]
        var failures = 0
        var reservations: [Result<ChannelTask, Problem>]
    }

    private let state: Mutex<State>
    private let channel: Channel
    private let mayBegin: Bool

    /// - Parameter mayBegin: whether a creation still has its lease when its call is about to be sent.
    init(
        _ channel: Channel, spare: [ChannelTask] = [], mayBegin: Bool = true,
        reservations: [Result<ChannelTask, Problem>] = []
    ) {
        self.channel = channel
        self.mayBegin = mayBegin
        state = Mutex(State(spare: spare, reservations: reservations))
    }

    var recorded: [ChannelOutcome] { state.withLock { $0.outcomes } }

    /// Makes the next `count` attempts to record an outcome fail.
    func failNext(_ count: Int) { state.withLock { $0.failures = count } }

    var store: FakeChannels {
        var store = FakeChannels()
        store.note = { [self] in try record($0, of: $1) }
        store.spare = { [self] in state.withLock { $0.spare.isEmpty ? [] : [$0.spare.removeFirst()] } }
        store.intend = { [self] _ in
            let next = state.withLock { $0.reservations.isEmpty ? nil : $0.reservations.removeFirst() }
            guard let next else { throw NotScripted() }
            return try next.get()
        }
        store.beginCall = { [self] _ in mayBegin }
        return store
    }

    private func record(_ outcome: ChannelOutcome, of task: ChannelTask) throws -> Channel {
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
final class Reconciliations: Sendable {
    private let requests = Mutex<[AppEnvironment]>([])
    private let lists = Mutex<[ChannelListing]>([])

    var requested: [AppEnvironment] { requests.withLock { $0 } }
    /// The lists that were recorded before creations.
    var witnessed: [ChannelListing] { lists.withLock { $0 } }

    var store: FakeReconciliations {
        var store = FakeReconciliations()
        store.see = { [self] listing in lists.withLock { $0.append(listing) } }
        store.want = { [self] app in requests.withLock { $0.append(app) } }
        return store
    }
}
