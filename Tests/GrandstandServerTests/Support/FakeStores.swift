internal import APNsWire
internal import Grandstand
internal import Synchronization

/// The tested code made a call that it must not make.
struct NotScripted: Error {}

/// A ledger that stores what is recorded, returns `spare` as unneeded channels, and does nothing else.
final class ScriptedLedger: Sendable {
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
final class ScriptedQuirks: QuirkStore {
    private let kept = Mutex<[Quirk.Name: Quirk]>([:])
    private let fails: Bool

    init(fails: Bool = false) { self.fails = fails }

    var learned: [Quirk] { kept.withLock { Array($0.values) } }

    func remember(_ quirk: Quirk, for app: AppEnvironment) async throws {
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

/// What happened to a fake store. A test can wait for it.
final class Happenings<Account: Sendable>: Sendable {
    private let account: Mutex<Account>
    private let events: AsyncStream<Void>.Continuation
    private let changes: AsyncStream<Void>

    init(_ account: Account) {
        self.account = Mutex(account)
        (changes, events) = AsyncStream.makeStream()
    }

    var record: Account { account.withLock { $0 } }

    func change<Value: Sendable, Failure: Error>(
        _ body: (inout Account) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        defer { events.yield() }
        return try account.withLock { account throws(Failure) in try body(&account) }
    }

    /// Waits until the records satisfy `isEnough`.
    func wait(until isEnough: (Account) -> Bool) async {
        if isEnough(record) { return }
        for await _ in changes where isEnough(record) { return }
    }
}

/// An outbox of deliveries that are due at once.
struct ScriptedOutbox {
    struct Account: Sendable {
        var waiting: [ClaimedDelivery]
        /// The number of settlements and claims that fail before one succeeds.
        var settlementFailures: Int
        var claimFailures: Int
        var claims: [Int] = []
        var settled: [Settlement] = []
        var released: [ClaimedDelivery] = []
        /// The lanes whose leases were extended, by call.
        var extended: [[Int]] = []
        /// Lanes that another transaction has locked.
        var locked: Set<Int> = []
        /// The lanes that the last claim named as held by this replica, and its limits.
        var held: Set<Int> = []
        var limits: [LaneLimit] = []
    }

    private let happenings: Happenings<Account>

    init(_ deliveries: [ClaimedDelivery], settlementFailures: Int = 0, claimFailures: Int = 0) {
        happenings = Happenings(
            Account(waiting: deliveries, settlementFailures: settlementFailures, claimFailures: claimFailures))
    }

    var record: Account { happenings.record }

    func add(_ deliveries: [ClaimedDelivery]) { happenings.change { $0.waiting += deliveries } }

    /// Locks these lanes, and unlocks all others.
    func lock(_ lanes: Set<Int>) { happenings.change { $0.locked = lanes } }

    func wait(until isEnough: (Account) -> Bool) async { await happenings.wait(until: isEnough) }

    var store: FakeOutbox {
        var store = FakeOutbox()
        store.lease = { [happenings] claim in
            try happenings.change { account in
                if account.claimFailures > 0 {
                    account.claimFailures -= 1
                    throw NotScripted()
                }
                account.claims.append(claim.limit)
                account.held = claim.held
                account.limits = claim.limits
                defer { account.waiting.removeFirst(min(claim.limit, account.waiting.count)) }
                return Array(account.waiting.prefix(claim.limit))
            }
        }
        store.conclude = { [happenings] delivery, settlement in
            try happenings.change { account in
                if account.settlementFailures > 0 {
                    account.settlementFailures -= 1
                    throw Problem(.storeUnavailable, "down")
                }
                guard !account.locked.contains(delivery.lane) else { return false }
                if let settlement { account.settled.append(settlement) } else { account.released.append(delivery) }
                return true
            }
        }
        store.extend = { [happenings] lanes in happenings.change { $0.extended.append(lanes) } }
        return store
    }
}

/// Signals that the test gives.
final class HandSignals: WakeSignals {
    private let streams = Mutex<[AsyncStream<Void>.Continuation]>([])

    func wakes(_ topic: WakeTopic) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        streams.withLock { $0.append(continuation) }
        return stream
    }

    func wake() { for stream in streams.withLock({ $0 }) { stream.yield() } }
}

/// A store of shards that are due at once.
struct FakeStartStore {
    struct Account: Sendable {
        var shards: [StartShard]
        var settlementFailures: Int
        var claims: [StartClaim] = []
        var settled: [(run: Int, outcomes: [StartOutcome])] = []
        var extended: [[Int]] = []
        /// Claims, failures and settlements in their order.
        var log: [String] = []
    }

    private let happenings: Happenings<Account>

    init(_ shards: [StartShard], settlementFailures: Int = 0) {
        happenings = Happenings(Account(shards: shards, settlementFailures: settlementFailures))
    }

    var record: Account { happenings.record }

    func wait(until isEnough: (Account) -> Bool) async { await happenings.wait(until: isEnough) }

    var store: FakeStarts {
        var store = FakeStarts()
        store.lease = { [happenings] claim in
            happenings.change { account in
                account.claims.append(claim)
                account.log.append("claim")
                defer { account.shards.removeFirst(min(claim.limit, account.shards.count)) }
                return Array(account.shards.prefix(claim.limit))
            }
        }
        store.conclude = { [happenings] shard, verdicts in
            try happenings.change { account in
                if account.settlementFailures > 0 {
                    account.settlementFailures -= 1
                    account.log.append("failure")
                    throw Problem(.storeUnavailable, "It is away.")
                }
                account.log.append("settled")
                account.settled.append((shard.run, verdicts))
            }
        }
        store.extend = { [happenings] runs in happenings.change { $0.extended.append(runs) } }
        return store
    }
}
