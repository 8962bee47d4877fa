internal import APNsWire
internal import HTTP2
internal import Synchronization

/// The open connections by environment, for faults that act on all connections of an environment.
final class Connections: Sendable {
    private let byID = Mutex<[Int: (connection: HTTP2ServerConnection, environment: APNsEnvironment)]>([:])

    func insert(_ connection: HTTP2ServerConnection, _ environment: APNsEnvironment) {
        byID.withLock { $0[connection.id] = (connection, environment) }
    }

    func remove(_ connection: HTTP2ServerConnection) {
        byID.withLock { $0[connection.id] = nil }
    }

    func all(in environment: APNsEnvironment) -> [HTTP2ServerConnection] {
        byID.withLock { connections in connections.values.filter { $0.environment == environment }.map(\.connection) }
    }
}
