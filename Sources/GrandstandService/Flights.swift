internal import Grandstand
internal import Synchronization

/// The dispatcher's requests under way and the verdicts that wait to be settled.
final class Flights: Sendable {
    /// What is settled in one go.
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
        /// No more claims; what is under way may land.
        case stopping
        case closed
    }

    private struct State {
        /// By delivery.
        var flying: [Int: ClaimedDelivery] = [:]
        /// Deliveries that were under way when leases were last extended.
        var lasting: Set<Int> = []
        var settlements: [Settlement] = []
        var abandoned: [ClaimedDelivery] = []
        var phase = Phase.idle
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
            if state.flying.removeValue(forKey: settlement.delivery) != nil { state.settlements.append(settlement) }
            return state.flying.count
        }
        doorbell.ring()
        return count
    }

    func stopClaiming() { state.withLock { if $0.phase == .open { $0.phase = .stopping } } }

    /// Gives up waiting for what is still under way.
    func abandon() {
        state.withLock { state in
            state.abandoned += state.flying.values
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

    /// Nothing more will land: `landed` ends after what is there.
    func close() {
        state.withLock { $0.phase = .closed }
        doorbell.ring()
    }

    /// Waits for verdicts and takes all that are there; `nil` when closed and empty.
    func landed() async -> Batch? {
        while true {
            let (batch, isClosed) = state.withLock { state -> (Batch?, Bool) in
                guard !state.settlements.isEmpty || !state.abandoned.isEmpty else {
                    return (nil, state.phase == .closed)
                }
                let batch = Batch(settlements: state.settlements, abandoned: state.abandoned)
                state.settlements = []
                state.abandoned = []
                return (batch, state.phase == .closed)
            }
            if let batch { return batch }
            if isClosed { return nil }
            await doorbell.wait(atMost: .seconds(1))
        }
    }
}
