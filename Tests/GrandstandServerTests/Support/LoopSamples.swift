internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Logging
internal import Synchronization

@testable internal import GrandstandServer

/// Values for tests in which the exact value does not matter.
enum LoopSample {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The time of every clock, unless a test moves it.
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static let bundleID = Sample.stadium

    static func rates(
        _ api: Contract.APNsAPI = .broadcast, keys: KeylessApps = KeylessApps(fault: { _ in nil }, logger: logger)
    ) -> SendRates {
        SendRates(environment: .production, api: api, keys: keys, logger: logger)
    }

    /// The durations are hours, so nothing happens because time has passed.
    static func worker(
        lease: TimeInterval = 3_600, drain: Drain = Drain(.seconds(3_600)), pollInterval: Duration = .seconds(3_600),
        signals: WakeUps = .byHand, now: @escaping @Sendable () -> Date = { LoopSample.now },
        mayClaim: @escaping @Sendable () -> Bool = { true }, logger: Logger = logger
    ) -> Worker {
        Worker(
            lease: lease, drain: drain, pollInterval: pollInterval, signals: signals, now: now, mayClaim: mayClaim,
            logger: logger)
    }

    static func address(_ bundleID: BundleID = bundleID) -> APNsAddress {
        APNsAddress(bundleID: bundleID, environment: .production, credentials: KeyFolder.credentials)
    }
}

extension WakeUps {
    /// Signals that only the test gives.
    static var byHand: WakeUps { WakeUps(Database(TestDatabase.away.pool)) }

    func wake() { wakeLocal(Set(WakeTopic.allCases)) }
}

/// Holds tasks until it is opened, and counts them. Cancelling a held task does not release it, as with a blocking read
/// of a socket.
final class Valve: Sendable {
    private struct State {
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []
        var inside = 0
        var most = 0
    }

    private let state = Mutex(State())
    private let events: AsyncStream<Int>.Continuation
    /// Yields, at each arrival, how many tasks are inside.
    private let arrivals: AsyncStream<Int>

    init() { (arrivals, events) = AsyncStream.makeStream() }

    /// The largest number of tasks that were inside at the same time.
    var most: Int { state.withLock { $0.most } }

    func pass() async {
        let inside = state.withLock { state in
            state.inside += 1
            state.most = max(state.most, state.inside)
            return state.inside
        }
        events.yield(inside)
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        // Lets other tasks run while this one still counts as inside, even when the valve is open.
        await Task.yield()
        state.withLock { $0.inside -= 1 }
    }

    /// Waits until `count` tasks are inside at the same time.
    func hold(_ count: Int) async {
        for await inside in arrivals where inside >= count { return }
    }

    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}

extension APNsAnswer {
    static func refusing(_ reason: APNsReason, retryAfter: Int? = nil) -> Self {
        .refused(APNsRefusal(status: reason.status ?? 400, reason: reason, retryAfter: retryAfter))
    }

    static func giving(_ value: Value) -> Self { .accepted(value, APNsReceipt(requestID: nil)) }
}

extension APNsAnswer<Void> {
    static var ok: Self { .giving(()) }
}

/// APNs with scripted answers: each kind of call has its answers in order. The last one is repeated.
final class ScriptedGateway: APNsGateway {
    struct Calls: Sendable {
        var created: [APNsAddress] = []
        var read: [String] = []
        var deleted: [String] = []
        var listed: [APNsAddress] = []
    }

    private struct State {
        var creations: [APNsAnswer<String>]
        var readings: [APNsAnswer<StoragePolicy>]
        var deletions: [APNsAnswer<Void>]
        var lists: [APNsAnswer<ChannelListing>]
        var calls = Calls()
    }

    private let state: Mutex<State>
    private let key: Contract.CredentialState
    private let onSend: @Sendable (ClaimedDelivery) async -> APNsAnswer<Void>

    init(
        creations: [APNsAnswer<String>] = [], readings: [APNsAnswer<StoragePolicy>] = [],
        deletions: [APNsAnswer<Void>] = [], lists: [APNsAnswer<ChannelListing>] = [],
        key: Contract.CredentialState = .ok,
        send: @escaping @Sendable (ClaimedDelivery) async -> APNsAnswer<Void> = { _ in .ok }
    ) {
        state = Mutex(State(creations: creations, readings: readings, deletions: deletions, lists: lists))
        (self.key, onSend) = (key, send)
    }

    /// Accepts each message once the valve is open.
    static func held(by valve: Valve) -> ScriptedGateway {
        ScriptedGateway { _ in
            await valve.pass()
            return .ok
        }
    }

    var calls: Calls { state.withLock { $0.calls } }

    func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> { await onSend(delivery) }

    func createChannel(_ storagePolicy: StoragePolicy, at address: APNsAddress) async -> APNsAnswer<String> {
        next(\.creations) { $0.created.append(address) }
    }

    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        next(\.readings) { $0.read.append(channelID) }
    }

    func deleteChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<Void> {
        next(\.deletions) { $0.deleted.append(channelID) }
    }

    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        next(\.lists) { $0.listed.append(address) }
    }

    func keyFileState(of credentials: Credentials) -> Contract.CredentialState { key }

    private func next<Value>(
        _ answers: WritableKeyPath<State, [APNsAnswer<Value>]>, _ note: (inout Calls) -> Void
    ) -> APNsAnswer<Value> {
        state.withLock { state in
            note(&state.calls)
            guard let answer = state[keyPath: answers].first else { return .unsent("not scripted") }
            if state[keyPath: answers].count > 1 { state[keyPath: answers].removeFirst() }
            return answer
        }
    }
}

/// Runs a loop during `body`, and returns when it has stopped.
func running(_ loop: @escaping @Sendable () async -> Void, while body: () async throws -> Void) async rethrows {
    let running = Task { await loop() }
    defer { running.cancel() }
    try await body()
    running.cancel()
    await running.value
}
