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
        /// By delivery: those whose verdicts are not recorded yet.
        var unsettled: [Int: ClaimedDelivery] = [:]
        /// Deliveries that were flying or unsettled when leases were last extended.
        var lasting: Set<Int> = []
        var settlements: [(app: BundleID, settlement: Settlement)] = []
        var abandoned: [ClaimedDelivery] = []
        /// Of the last batch nothing could be recorded: somebody else has locked all its lanes.
        var isBlocked = false
        var phase = Phase.idle
        /// When locked lanes are given up after the close.
        var end: ContinuousClock.Instant?

        var lastingLanes: Set<Int> { Set(lasting.compactMap { (flying[$0] ?? unsettled[$0])?.lane }) }

        mutating func land(_ settlement: Settlement, of delivery: ClaimedDelivery) {
            unsettled[delivery.id] = delivery
            settlements.append((delivery.address.bundleID, settlement))
        }

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

    /// Lanes whose messages have been under way, or not settled, since before the last call: their leases must be
    /// extended.
    func lastingLanes() -> [Int] {
        state.withLock { state in
            defer { state.lasting = Set(state.flying.keys).union(state.unsettled.keys) }
            return state.lastingLanes.sorted()
        }
    }

    /// Lanes that are not done, and whose leases may have ended because somebody else has locked them.
    var held: Set<Int> { state.withLock(\.lastingLanes) }

    /// A verdict is known; one on a delivery that was abandoned meanwhile is dropped.
    ///
    /// - Returns: how many are under way still.
    @discardableResult
    func land(_ settlement: Settlement) -> Int {
        let count = state.withLock { state in
            if let delivery = state.flying.removeValue(forKey: settlement.delivery) {
                state.land(settlement, of: delivery)
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
                state.land(
                    Settlement(
                        delivery: delivery.id, lane: delivery.lane, verdict: .unknown(reason: Lane.unheard), at: now),
                    of: delivery)
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
        state.withLock { state in
            state.phase = .closed
            state.end = .now + Self.lastTries
        }
        doorbell.ring()
    }

    /// The pause before lanes are tried again that somebody else has locked, if there is nothing else to record.
    private static let rest = Duration.milliseconds(20)
    /// How long they are tried again after the close. Then they stay leased, and the same message goes again.
    private static let lastTries = Duration.seconds(1)

    /// A batch is recorded. What concerns `locked` lanes comes again with a later batch.
    ///
    /// - Returns: whether anything was recorded.
    func settled(_ batch: Batch, except locked: Set<Int>) -> Bool {
        state.withLock { state in
            let isOver = state.end.map { $0 < .now } ?? false
            for settlement in batch.settlements {
                guard let delivery = state.unsettled.removeValue(forKey: settlement.delivery) else { continue }
                if locked.contains(settlement.lane), !isOver { state.land(settlement, of: delivery) }
            }
            if !isOver { state.abandoned += batch.abandoned.filter { locked.contains($0.lane) } }
            state.isBlocked = locked.isSuperset(of: batch.settlements.map(\.lane) + batch.abandoned.map(\.lane))
            return !state.isBlocked
        }
    }

    /// Verdicts in one batch at most: its lanes can take nothing else until it is written.
    static let batch = 200

    /// Waits for verdicts and takes those that are there, up to `batch`; `nil` when closed and empty. Apps take turns: a
    /// lane has its next message when the last is settled, and ten thousand of another app's may be before it.
    func landed() async -> Batch? {
        let isBlocked = state.withLock { state in
            defer { state.isBlocked = false }
            return state.isBlocked
        }
        if isBlocked { await doorbell.wait(atMost: Self.rest) }
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
