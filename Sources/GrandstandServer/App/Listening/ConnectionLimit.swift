internal import Grandstand
internal import NIOCore
internal import Synchronization

/// Closes connections of the API's listener by the rule of `ConnectionPlaces`, so that tens of thousands of phones leave
/// room for organisers, and clients that read nothing leave memory.
final class ConnectionLimit: Sendable {
    private let places: Mutex<ConnectionPlaces<ObjectIdentifier, any NIOCore.Channel>>

    init(maximum: Int) { places = Mutex(ConnectionPlaces(maximum: maximum)) }

    /// Adds a new connection.
    func add(_ channel: any NIOCore.Channel) {
        let name = ObjectIdentifier(channel)
        let leaving = places.withLock { $0.open(name, channel) }
        channel.closeFuture.whenComplete { _ in self.places.withLock { _ = $0.close(name) } }
        leaving?.close(promise: nil)
    }

    /// Marks the connection as known, because a request on it had a key that does not ship in client apps.
    func trust(_ channel: any NIOCore.Channel) { places.withLock { $0.trust(ObjectIdentifier(channel)) } }

    /// Sets the number of bytes that wait for the connection's client; 0: the client reads them.
    func setUnread(_ bytes: Int, for channel: any NIOCore.Channel) {
        // Close later, on the channel's event loop, because this call may come from the middle of a write of the same
        // channel.
        for gone in places.withLock({ $0.setUnread(bytes, for: ObjectIdentifier(channel)) }) {
            gone.eventLoop.execute { gone.close(promise: nil) }
        }
    }
}
