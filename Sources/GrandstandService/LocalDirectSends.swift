package import APNsWire
package import Grandstand
internal import Synchronization

/// Connects transactions that accept broadcasts with the dispatchers in the same process.
package final class LocalDirectSends: DirectSends {
    /// The connection to one dispatcher.
    struct Way: Sendable {
        /// Returns a claim for at most `wanted` lanes whose messages may be sent now; `nil`: no message may be sent
        /// now.
        let claim: @Sendable (_ wanted: Int) -> LaneClaim?
        /// Sends the messages of a claim that `claim` returned.
        let send: @Sendable ([ClaimedDelivery]) -> Void
    }

    private let ways = Mutex<[APNsEnvironment: Way]>([:])

    package init() {}

    /// Connects the running dispatcher of this environment.
    func attach(_ way: Way, _ environment: APNsEnvironment) { ways.withLock { $0[environment] = way } }

    /// Disconnects a dispatcher that has stopped.
    func detach(_ environment: APNsEnvironment) { ways.withLock { $0[environment] = nil } }

    package func claim(_ wanted: Int, in environment: APNsEnvironment) -> LaneClaim? {
        ways.withLock { $0[environment] }?.claim(wanted)
    }

    package func send(_ deliveries: [ClaimedDelivery], in environment: APNsEnvironment) {
        ways.withLock { $0[environment] }?.send(deliveries)
    }
}
