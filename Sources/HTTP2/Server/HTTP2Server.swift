package import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import NIOTLS

/// A listening HTTP/2 server with TLS. Clients that do not choose `h2` by ALPN are disconnected.
package final class HTTP2Server: Sendable {
    private typealias Connections = NIOLockedValueBox<[Int: HTTP2ServerConnection]>

    private let listener: any Channel
    private let connections: Connections

    private init(listener: any Channel, connections: Connections) {
        self.listener = listener
        self.connections = connections
    }

    /// Starts to listen. Throws `HTTP2ServerError`, which says why the server cannot listen.
    package static func start(
        _ configuration: HTTP2ServerConfiguration, handler: any HTTP2ServerHandler, logger: Logger
    ) async throws(HTTP2ServerError) -> HTTP2Server {
        let connections = Connections([:])
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try accept(channel, configuration, handler, connections, logger)
                }
            }
        do {
            let listener = try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
            logger.debug(
                "HTTP/2 server listening", metadata: ["address": "\(listener.localAddress?.description ?? "")"])
            return HTTP2Server(listener: listener, connections: connections)
        } catch {
            let address = "\(configuration.host):\(configuration.port)"
            throw HTTP2ServerError(
                error.isAddressInUse
                    ? "\(address) is in use: stop what listens there, or choose another port"
                    : "can't listen on \(address): \(error.summary)")
        }
    }

    /// Builds a connection's pipeline. TLS follows when the ClientHello was admitted.
    private static func accept(
        _ channel: any Channel, _ configuration: HTTP2ServerConfiguration, _ handler: any HTTP2ServerHandler,
        _ connections: Connections, _ logger: Logger
    ) throws {
        guard connections.withLockedValue({ $0.count }) < configuration.maximumConnections else {
            throw HTTP2ServerError("too many connections")
        }
        let server = try ServerHandler(configuration, handler: handler, on: channel.eventLoop, logger: logger)
        let connection = HTTP2ServerConnection(channel: channel, handler: server)
        server.connection = connection
        let bound = NIOLoopBound(server, eventLoop: channel.eventLoop)
        let hello = SNIHandler { result in
            if case .hostname(let name) = result { connection.serverName = name }
            return channel.eventLoop.makeCompletedFuture {
                let admission = configuration.admission?(connection.serverName) ?? .serve
                guard admission != .close else { throw HTTP2ServerError("not admitted") }
                let tls = admission == .otherIdentity ? configuration.otherTLS : nil
                try channel.pipeline.syncOperations.addHandler(
                    TLSHandler(tls ?? configuration.tls), position: .before(bound.value))
            }.flatMapErrorThrowing { error in
                channel.close(promise: nil)
                throw error
            }
        }
        try channel.pipeline.syncOperations.addHandlers([ByteToMessageHandler(hello), server])
        connections.withLockedValue { $0[connection.id] = connection }
        channel.closeFuture.whenComplete { _ in connections.withLockedValue { $0[connection.id] = nil } }
    }

    /// The port that the server listens on.
    package var port: Int { listener.localAddress?.port ?? 0 }

    /// Accepts no more connections, sends GOAWAY on the open connections, waits up to `drainTimeout` for outstanding
    /// answers, and closes.
    package func stop() async {
        try? await listener.close()
        let open = connections.withLockedValue { Array($0.values) }
        for connection in open { connection.drain() }
        for connection in open { _ = try? await connection.closed.get() }
    }
}

/// Why a server did not start: one line that says what to check.
package struct HTTP2ServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line, no line break.
    package var message: String

    /// - Parameter message: one line that says what to check.
    package init(_ message: String) { self.message = message }

    /// The message alone.
    package var description: String { message }
}
