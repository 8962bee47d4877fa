internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Synchronization

/// A dispatcher's free places, as many as the test sets, and the messages that were handed to it.
final class HandDepartures: Departures {
    struct Books {
        var places: Int
        var departed: [ClaimedDelivery] = []
        /// How many lanes each acceptance requested.
        var wanted: [Int] = []
    }

    private let state: Mutex<Books>
    private let clock: ManualClock
    private let laneInterval: TimeInterval
    /// Seconds that an acceptance waits before it asks.
    private let delay: TimeInterval
    private let limits: [LaneLimit]
    let replica = UUID()

    init(
        places: Int, clock: ManualClock, laneInterval: TimeInterval = 0, delay: TimeInterval = 0,
        limits: [LaneLimit] = []
    ) {
        state = Mutex(Books(places: places))
        self.clock = clock
        self.laneInterval = laneInterval
        self.delay = delay
        self.limits = limits
    }

    var books: Books { state.withLock { $0 } }

    /// The messages handed over since the last call.
    func take() -> [ClaimedDelivery] {
        state.withLock { state in
            defer { state.departed = [] }
            return state.departed
        }
    }

    func claim(_ wanted: Int, in environment: APNsEnvironment) -> LaneClaim? {
        let limit = state.withLock { state in
            state.wanted.append(wanted)
            return min(wanted, state.places)
        }
        guard limit > 0 else { return nil }
        return LaneClaim(
            environment: environment, limit: limit, replica: replica, at: clock.now.addingTimeInterval(delay),
            leasedUntil: clock.now.addingTimeInterval(delay + 5), laneInterval: laneInterval, limits: limits)
    }

    func depart(_ deliveries: [ClaimedDelivery], in environment: APNsEnvironment) {
        state.withLock { $0.departed += deliveries }
    }
}
