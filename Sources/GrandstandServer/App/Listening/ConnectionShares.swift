internal import NIOCore
internal import Synchronization

/// Closes connections of the API's listener when there are too many. If strangers (`ConnectionPlaces`) have more than
/// their share, their oldest connection is closed, so that tens of thousands of phones leave room for organisers. If
/// unread answers have more than `mostUnread` bytes together, the connection that has waited longest is closed.
final class ConnectionShares: Sendable {
    private struct State {
        var places: ConnectionPlaces<ObjectIdentifier>
        var unread = UnreadAnswers<ObjectIdentifier>(most: ConnectionShares.mostUnread)
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private static let mostUnread = 128 << 20

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

    /// Sets the number of bytes that wait for the connection's client; 0: the client reads them.
    func hold(_ bytes: Int, for channel: any Channel) {
        let name = ObjectIdentifier(channel)
        let leaving = state.withLock { state -> [any Channel] in
            guard state.channels[name] != nil else { return [] }
            return state.unread.hold(bytes, for: name).compactMap { state.channels[$0] }
        }
        // Close later, on the channel's event loop, because this call may come from the middle of a write of the same
        // channel.
        for channel in leaving { channel.eventLoop.execute { channel.close(promise: nil) } }
    }

    private func close(_ name: ObjectIdentifier) {
        state.withLock { state in
            state.places.close(name)
            _ = state.unread.hold(0, for: name)
            state.channels[name] = nil
        }
    }
}
