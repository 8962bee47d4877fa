package import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import NIOTLS

/// A listening HTTP/2 server with TLS. Clients that do not choose `h2` by ALPN are disconnected.
package final class HTTP2Server: Sendable {
    private let listener: any Channel
    private let connections: ServerConnections

    private init(listener: any Channel, connections: ServerConnections) {
        self.listener = listener
        self.connections = connections
    }

    /// Starts to listen. Throws `HTTP2ServerError`, which says why the server cannot listen.
    package static func start(
        _ configuration: HTTP2ServerConfiguration, handler: any HTTP2ServerHandler, logger: Logger
    ) async throws -> HTTP2Server {
        let tls = try ServerTLS(configuration)
        let connections = ServerConnections()
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.count < configuration.maximumConnections else {
                        throw HTTP2ServerError("too many connections")
                    }
                    let shell = ServerChannelHandler(configuration, handler: handler, logger: logger)
                    let connection = HTTP2ServerConnection(channel: channel, handler: shell)
                    shell.connection = connection
                    let bound = NIOLoopBound(shell, eventLoop: channel.eventLoop)
                    let hello = SNIHandler { result in
                        if case .hostname(let name) = result { connection.serverName = name }
                        return channel.eventLoop.makeCompletedFuture {
                            let admission = configuration.admission?(connection.serverName) ?? .serve
                            guard admission != .close else { throw HTTP2ServerError("not admitted") }
                            try channel.pipeline.syncOperations.addHandler(
                                try tls.handler(admission), position: .before(bound.value))
                        }.flatMapErrorThrowing { error in
                            channel.close(promise: nil)
                            throw error
                        }
                    }
                    try channel.pipeline.syncOperations.addHandlers([ByteToMessageHandler(hello), shell])
                    connections.insert(connection)
                    channel.closeFuture.whenComplete { _ in connections.remove(connection) }
                }
            }
        do {
            let listener = try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
            logger.debug(
                "HTTP/2 server listening", metadata: ["address": "\(listener.localAddress?.description ?? "")"])
            return HTTP2Server(listener: listener, connections: connections)
        } catch {
            let address = "\(configuration.host):\(configuration.port)"
            if let error = error as? IOError, error.errnoCode == SystemError.addressInUse {
                throw HTTP2ServerError("\(address) is in use: stop what listens there, or choose another port")
            }
            throw HTTP2ServerError("can't listen on \(address): \(ConnectProgress.lossText(error))")
        }
    }

    /// The port that the server listens on.
    package var port: Int { listener.localAddress?.port ?? 0 }

    /// Accepts no more connections, sends GOAWAY on the open connections, waits up to `drainTimeout` for outstanding
    /// answers, and closes.
    package func stop() async {
        try? await listener.close()
        for connection in connections.all { connection.drain() }
        for connection in connections.all { _ = await connection.closed.wait() }
    }
}

private struct ServerConnections: Sendable {
    private let byID = NIOLockedValueBox<[Int: HTTP2ServerConnection]>([:])

    var all: [HTTP2ServerConnection] { byID.withLockedValue { Array($0.values) } }

    var count: Int { byID.withLockedValue { $0.count } }

    func insert(_ connection: HTTP2ServerConnection) { byID.withLockedValue { $0[connection.id] = connection } }

    func remove(_ connection: HTTP2ServerConnection) {
        byID.withLockedValue { connections in _ = connections.removeValue(forKey: connection.id) }
    }
}
