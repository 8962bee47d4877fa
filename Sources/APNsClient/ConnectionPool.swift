internal import Grandstand
internal import HTTP2
internal import Logging
internal import Synchronization

/// The connections to one endpoint for one team and key. APNs binds a connection to who first used it, so pools are
/// never shared between credentials (apns-contract section 5).
final class ConnectionPool: Sendable {
    private let configuration: HTTP2ClientConfiguration
    private let maximum: Int
    private let logger: Logger

    /// No connection is to be had any more; trying again is no use.
    struct Closed: Error, CustomStringConvertible {
        var description: String { "the connections to APNs are closed" }
    }

    private struct State {
        var connections: [HTTP2ClientConnection] = []
        /// One connection is opened at a time; whoever needs it waits for it.
        var opening: Task<HTTP2ClientConnection, any Error>?
        var isClosed = false
    }

    private let state = Mutex(State())

    init(configuration: HTTP2ClientConfiguration, maximum: Int, logger: Logger) {
        self.configuration = configuration
        self.maximum = maximum
        self.logger = logger
    }

    /// A connection that takes requests: the least busy one; another is opened meanwhile when all are busy.
    func connection() async throws -> HTTP2ClientConnection {
        let (best, opening) = state.withLock { state in
            state.connections.removeAll { !$0.isUsable }
            let best = state.connections.min { Self.load($0) < Self.load($1) }
            let isBusy = best.map { Self.load($0) >= Self.busy } ?? true
            if isBusy, state.connections.count < maximum, state.opening == nil, !state.isClosed {
                state.opening = Task { try await self.open() }
            }
            return (best, state.opening)
        }
        if let best { return best }
        guard let opening else { throw Closed() }
        return try await opening.value
    }

    func close() async {
        let (connections, opening) = state.withLock { state in
            state.isClosed = true
            defer { state.connections = [] }
            return (state.connections, state.opening)
        }
        opening?.cancel()
        await withTaskGroup(of: Void.self) { group in
            for connection in connections { group.addTask { await connection.close() } }
        }
    }

    /// Requests on a connection from which on another one helps (http2.md: keep about 100 in flight on each).
    private static let busy = 50

    private static func load(_ connection: HTTP2ClientConnection) -> Int {
        connection.streamsInUse + connection.waiting
    }

    private func open() async throws -> HTTP2ClientConnection {
        do {
            let connection = try await HTTP2ClientConnection.connect(configuration, logger: logger)
            let isClosed = state.withLock { state in
                state.opening = nil
                if !state.isClosed { state.connections.append(connection) }
                return state.isClosed
            }
            if isClosed { await connection.close() }
            return connection
        } catch {
            state.withLock { $0.opening = nil }
            logger.warning(
                "no connection to APNs",
                metadata: ["host": "\(configuration.host)", "port": "\(configuration.port)", "error": "\(error)"])
            throw error
        }
    }
}
