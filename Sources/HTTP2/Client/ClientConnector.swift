internal import Logging
internal import NIOCore
internal import NIOPosix

/// Opens a connection from a configuration, or reports why it cannot.
struct ClientConnector {
    let configuration: HTTP2ClientConfiguration
    let logger: Logger

    func connect() async throws(HTTP2ConnectError) -> HTTP2ClientConnection {
        let tls = try ClientTLS(configuration)
        let timeout = TimeAmount(configuration.connectTimeout)
        let deadline = NIODeadline.now() + timeout
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let ready = loop.makePromise(of: Void.self)
        let configuration = configuration
        let connection = ClientBootstrap(group: loop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // The buffer holds several batches before the loop has to wait for the socket.
            .channelOption(.writeBufferWaterMark, value: .init(low: 128 << 10, high: 512 << 10))
            .connect(host: configuration.host, port: configuration.port)
            .flatMapThrowing { channel in
                // The handler is not made in the channel initializer. The initializer runs for each address that is
                // tried, and only one of these channels is connected.
                let handler = ClientHandler(configuration, connectDeadline: deadline, ready: ready, logger: logger)
                try channel.pipeline.syncOperations.addHandlers([tls.handler(), handler])
                return HTTP2ClientConnection(channel: channel, handler: handler)
            }
        connection.whenFailure { ready.fail($0) }
        do {
            // If `ready` fails first, for example because the task is cancelled, a connection that opens later is
            // released here, and its `deinit` closes it.
            return try await withTaskCancellationHandler {
                try await connection.and(ready.futureResult).map { connection, _ in connection }.get()
            } onCancel: {
                ready.fail(HTTP2ConnectError(kind: .connect, message: "the attempt to connect was cancelled"))
            }
        } catch {
            throw ConnectProgress.connectError(configuration, cause: error)
        }
    }
}
