package import APNsWire
package import Grandstand
internal import Synchronization

/// Gives transactions that accept broadcasts the dispatchers that run in their process.
package final class LocalDepartures: Departures {
    /// The way of accepted messages to a dispatcher.
    struct Way: Sendable {
        /// A claim for as many lanes as may leave now, of so many; `nil`: none may.
        let claim: @Sendable (_ wanted: Int) -> LaneClaim?
        /// Sends what was taken by such a claim.
        let depart: @Sendable ([ClaimedDelivery]) -> Void
    }

    private let ways = Mutex<[APNsEnvironment: Way]>([:])

    package init() {}

    /// The dispatcher of this environment runs now.
    func attach(_ way: Way, _ environment: APNsEnvironment) { ways.withLock { $0[environment] = way } }

    /// It has stopped.
    func detach(_ environment: APNsEnvironment) { ways.withLock { $0[environment] = nil } }

    package func claim(_ wanted: Int, in environment: APNsEnvironment) -> LaneClaim? {
        ways.withLock { $0[environment] }?.claim(wanted)
    }

    package func depart(_ deliveries: [ClaimedDelivery], in environment: APNsEnvironment) {
        ways.withLock { $0[environment] }?.depart(deliveries)
    }
}
