package import APNsWire
package import Grandstand
internal import Synchronization

/// Gives transactions that accept broadcasts the dispatchers that run in their process.
package final class LocalDepartures: Departures {
    private let dispatchers = Mutex<[APNsEnvironment: Dispatcher]>([:])

    package init() {}

    /// The dispatcher runs now.
    func attach(_ dispatcher: Dispatcher) { dispatchers.withLock { $0[dispatcher.environment] = dispatcher } }

    /// It has stopped.
    func detach(_ dispatcher: Dispatcher) { dispatchers.withLock { $0[dispatcher.environment] = nil } }

    package func claim(_ wanted: Int, in environment: APNsEnvironment) -> LaneClaim? {
        dispatchers.withLock { $0[environment] }?.departure(wanted)
    }

    package func depart(_ deliveries: [ClaimedDelivery], in environment: APNsEnvironment) {
        dispatchers.withLock { $0[environment] }?.depart(deliveries)
    }
}
