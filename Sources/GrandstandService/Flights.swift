internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// The dispatcher's requests under way and the verdicts that wait to be settled.
final class Flights: Sendable {
    /// Verdicts that are settled in one transaction.
    struct Batch: Sendable {
        var settlements: [Settlement]
        /// Claimed, but not waited for any longer.
        var abandoned: [ClaimedDelivery]
    }

    private enum Phase {
        /// Nothing is claimed yet.
        case idle
        /// Claims are made, and what lands is settled.
        case open
        /// No more claims; messages under way may land.
        case stopping
        case closed
    }

    private struct State {
        /// By delivery.
        var flying: [Int: ClaimedDelivery] = [:]
        /// Deliveries that were under way when leases were last extended.
        var lasting: Set<Int> = []
        var settlements: [(app: BundleID, settlement: Settlement)] = []
        var abandoned: [ClaimedDelivery] = []
        var phase = Phase.idle

        /// Takes out the settlements for the next batch.
        mutating func next(_ limit: Int) -> [Settlement] {
            if settlements.count > limit {
                var seen: [BundleID: Int] = [:]
                let turns = settlements.map { waiting in
                    seen[waiting.app, default: 0] += 1
                    return seen[waiting.app, default: 0]
                }
                let order = settlements.indices.sorted { (turns[$0], $0) < (turns[$1], $1) }
                settlements = order.map { settlements[$0] }
            }
            defer { settlements.removeFirst(min(limit, settlements.count)) }
            return settlements.prefix(limit).map(\.settlement)
        }
    }

    private let state = Mutex(State())
    private let doorbell = Doorbell()

    var count: Int { state.withLock { $0.flying.count } }
    var isOpen: Bool { state.withLock { $0.phase == .open } }
    var isClosed: Bool { state.withLock { $0.phase == .closed } }

    func open() { state.withLock { $0.phase = .open } }

    func begin(_ deliveries: [ClaimedDelivery]) {
        state.withLock { state in
            for delivery in deliveries { state.flying[delivery.id] = delivery }
        }
    }

    /// Lanes whose messages have been under way since before the last call: their leases want extending.
    func lastingLanes() -> [Int] {
        state.withLock { state in
            defer { state.lasting = Set(state.flying.keys) }
            return state.lasting.compactMap { state.flying[$0]?.lane }.sorted()
        }
    }

    /// A verdict is known; one on a delivery that was abandoned meanwhile is dropped.
    ///
    /// - Returns: how many are under way still.
    @discardableResult
    func land(_ settlement: Settlement) -> Int {
        let count = state.withLock { state in
            if let delivery = state.flying.removeValue(forKey: settlement.delivery) {
                state.settlements.append((delivery.address.bundleID, settlement))
            }
            return state.flying.count
        }
        doorbell.ring()
        return count
    }

    func stopClaiming() { state.withLock { if $0.phase == .open { $0.phase = .stopping } } }

    /// Gives up waiting for messages that are still under way. It may reach APNs all the same, so a start is not given
    /// back to go again.
    func abandon(at now: Date) {
        state.withLock { state in
            for delivery in state.flying.values {
                guard delivery.message.subject == .start else {
                    state.abandoned.append(delivery)
                    continue
                }
                state.settlements.append(
                    (
                        delivery.address.bundleID,
                        Settlement(
                            delivery: delivery.id, lane: delivery.lane, verdict: .unknown(reason: Lane.unheard),
                            at: now)
                    ))
            }
            state.flying = [:]
        }
        doorbell.ring()
    }

    /// Gives up on some that did not begin after all.
    func abandon(_ deliveries: [ClaimedDelivery]) {
        state.withLock { state in
            state.abandoned += deliveries.compactMap { state.flying.removeValue(forKey: $0.id) }
        }
        doorbell.ring()
    }

    /// Nothing more will land: `landed` ends after its present elements.
    func close() {
        state.withLock { $0.phase = .closed }
        doorbell.ring()
    }

    /// Verdicts in one batch at most: its lanes can take nothing else until it is written.
    static let batch = 200

    /// Waits for verdicts and takes those that are there, up to `batch`; `nil` when closed and empty. Apps take turns: a
    /// lane has its next message when the last is settled, and ten thousand of another app's may be before it.
    func landed() async -> Batch? {
        while true {
            let (batch, isClosed) = state.withLock { state -> (Batch?, Bool) in
                guard !state.settlements.isEmpty || !state.abandoned.isEmpty else {
                    return (nil, state.phase == .closed)
                }
                let batch = Batch(settlements: state.next(Self.batch), abandoned: state.abandoned)
                state.abandoned = []
                return (batch, state.phase == .closed)
            }
            if let batch { return batch }
            if isClosed { return nil }
            await doorbell.wait(atMost: .seconds(1))
        }
    }
}
