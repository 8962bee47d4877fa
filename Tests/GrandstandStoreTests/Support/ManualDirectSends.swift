internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Synchronization

/// A dispatcher's free places, as many as the test sets, and the messages that were handed to it.
final class ManualDirectSends: DirectSends {
    struct Record {
        var places: Int
        var sent: [ClaimedDelivery] = []
        /// How many lanes each acceptance requested.
        var wanted: [Int] = []
    }

    private let state: Mutex<Record>
    private let clock: ManualClock
    private let laneInterval: TimeInterval
    private let limits: [LaneLimit]
    let replica = UUID()

    init(
        places: Int, clock: ManualClock, laneInterval: TimeInterval = 0, limits: [LaneLimit] = []
    ) {
        state = Mutex(Record(places: places))
        self.clock = clock
        self.laneInterval = laneInterval
        self.limits = limits
    }

    var record: Record { state.withLock { $0 } }

    /// The messages that were handed over since the last call of this function.
    func take() -> [ClaimedDelivery] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }

    func claim(_ wanted: Int, in environment: APNsEnvironment) -> LaneClaim? {
        let limit = state.withLock { state in
            state.wanted.append(wanted)
            return min(wanted, state.places)
        }
        guard limit > 0 else { return nil }
        return LaneClaim(
            environment: environment, limit: limit, replica: replica, at: clock.now,
            leasedUntil: clock.now.addingTimeInterval(5), laneInterval: laneInterval, limits: limits)
    }

    func send(_ deliveries: [ClaimedDelivery], in environment: APNsEnvironment) {
        state.withLock { $0.sent += deliveries }
    }
}
