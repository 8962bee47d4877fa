internal import NIOCore
internal import Synchronization

/// The connections of the API's listener. When strangers have more than their share, it closes their oldest one, so
/// that tens of thousands of phones leave room for organisers.
final class ConnectionShares: Sendable {
    private struct State {
        var places: ConnectionPlaces<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>

    init(maximum: Int) { state = Mutex(State(places: ConnectionPlaces(maximum: maximum))) }

    /// Adds a new connection.
    func open(_ channel: any Channel) {
        let name = ObjectIdentifier(channel)
        let leaving = state.withLock { state in
            state.channels[name] = channel
            return state.places.open(name).flatMap { state.channels[$0] }
        }
        channel.closeFuture.whenComplete { _ in self.close(name) }
        leaving?.close(promise: nil)
    }

    /// Marks the connection as known, because a request on it had a key that does not ship in client apps.
    func know(_ channel: any Channel) { state.withLock { $0.places.know(ObjectIdentifier(channel)) } }

    private func close(_ name: ObjectIdentifier) {
        state.withLock { state in
            state.places.close(name)
            state.channels[name] = nil
        }
    }
}
