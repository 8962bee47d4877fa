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
                let tls = admission == .useOtherTLS ? configuration.otherTLS : nil
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

/// A server's address, certificate and limits.
package struct HTTP2ServerConfiguration: Sendable {
    /// An address or a name of this machine.
    package var host: String
    /// 0: the system picks a free port, see `HTTP2Server.port`.
    package var port: Int
    /// The server's certificate. Its protocols must be `h2` only.
    package var tls: TLSContext
    /// The certificate for connections that are admitted with `.useOtherTLS`; `nil`: they get `tls`, too.
    package var otherTLS: TLSContext?
    /// SETTINGS_MAX_CONCURRENT_STREAMS of a new connection.
    package var initialMaximumConcurrentStreams: Int = 1_000
    /// The most bytes of one request's body that are kept. Further bytes are dropped, and the handler is told so.
    package var maximumBodyKept: Int = 64 << 10
    /// The largest size of one request's header fields by RFC 9113 6.5.2 (name + value + 32 each). A larger one resets
    /// the stream.
    package var maximumHeaderList: Int = 32 << 10
    /// The time from the accepted socket to the peer's first SETTINGS.
    package var handshakeTimeout: Duration = .seconds(10)
    /// The silence after which a connection without outstanding answers is closed.
    package var idleTimeout: Duration = .seconds(3_600)
    /// How long `stop()` waits for outstanding answers.
    package var drainTimeout: Duration = .seconds(2)
    /// The most bytes of one request's body that are read, including those that are dropped. A longer body resets the
    /// stream with ENHANCE_YOUR_CALM, so that no client can send without end.
    package var maximumBodyRead: Int = 16 << 20
    /// The most open connections. Further ones are closed at once.
    package var maximumConnections: Int = .max
    /// Decides about a connection after its ClientHello; `nil`: all are served.
    package var admission: (@Sendable (_ serverName: String?) -> HTTP2Admission)?

    /// All other settings have their defaults.
    package init(host: String, port: Int, tls: TLSContext) {
        self.host = host
        self.port = port
        self.tls = tls
    }
}

/// What happens to a connection after its client has sent the server's name (SNI).
package enum HTTP2Admission: Sendable, Hashable {
    /// TLS continues.
    case serve
    /// The connection is closed during the handshake, without an alert.
    case close
    /// TLS continues with `HTTP2ServerConfiguration.otherTLS`.
    case useOtherTLS
}

/// The handler of a server's connections and requests.
///
/// The methods are called on the connection's event loop. A method should answer quickly, or pass the stream to a task
/// that answers later.
package protocol HTTP2ServerHandler: Sendable {
    /// TLS and `h2` were negotiated, and SETTINGS are being sent.
    func opened(_ connection: HTTP2ServerConnection)
    /// A complete request was received.
    ///
    /// - Parameter bodyIsCut: the body was longer than `HTTP2ServerConfiguration.maximumBodyKept`. `request.body` is
    ///   its beginning, and the rest was dropped.
    func received(_ request: HTTP2Request, bodyIsCut: Bool, on stream: HTTP2ServerStream)
    /// The connection has ended. There are no more calls for it.
    func closed(_ connection: HTTP2ServerConnection)
}

/// The stream on which a request is answered. Only the first call of `respond` or `reset` has an effect. After the
/// stream is closed, no call has an effect. Both methods may be called from any thread, at once or later.
package struct HTTP2ServerStream: Sendable {
    /// The connection on which the request came.
    package let connection: HTTP2ServerConnection
    let stream: Int32

    /// The HTTP/2 stream ID: odd, and higher for each request of a connection.
    package var id: Int { Int(stream) }

    /// Sends the answer. The body is left out if the answer must not have one (HEAD, 204, 304).
    package func respond(status: Int, headers: [HTTP2Header], body: [UInt8]) {
        connection.onLoop { [stream] in $0.respond(stream, status: status, headers: headers, body: body) }
    }

    /// Sends RST_STREAM with an `HTTP2ErrorCode` or any other number.
    package func reset(code: UInt32) { connection.onLoop { [stream] in $0.resetUnanswered(stream, code: code) } }
}

/// A client's connection on the server's side. Every method may be called from any thread. A call on the connection's
/// own event loop (in the handler's callbacks) has its effect at once, and its bytes are written with the rest of the
/// batch.
package final class HTTP2ServerConnection: Sendable {
    private static let lastID = NIOLockedValueBox(0)

    /// Unique among the connections of this process.
    package let id: Int
    /// The peer's address and port, for logs.
    package let remoteAddress: String
    let closed: EventLoopFuture<String>
    private let loop: any EventLoop
    private let handler: NIOLoopBound<ServerHandler>
    private let sniName = NIOLockedValueBox<String?>(nil)

    /// Must be called on the channel's loop.
    init(channel: any Channel, handler: ServerHandler) {
        id = Self.lastID.withLockedValue { counter in
            counter += 1
            return counter
        }
        let address = channel.remoteAddress
        remoteAddress = address?.ipAddress.map { "\($0):\(address?.port ?? 0)" } ?? "unknown"
        loop = channel.eventLoop
        closed = handler.closed.futureResult
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// The server name in the client's ClientHello (SNI, RFC 6066 3); `nil`: none.
    package internal(set) var serverName: String? {
        get { sniName.withLockedValue { $0 } }
        set { sniName.withLockedValue { $0 = newValue } }
    }

    /// Sends SETTINGS_MAX_CONCURRENT_STREAMS. Open streams stay open and still count.
    package func setMaximumConcurrentStreams(_ limit: Int) { onLoop { $0.setMaximumConcurrentStreams(limit) } }

    /// Sends GOAWAY. Open streams up to `lastStream` are still answered, and open streams above it are refused. Streams
    /// that the client opens later are ignored. The connection closes after the last answer.
    ///
    /// - Parameter lastStream: `nil` and a number above all streams mean all streams so far. It may only decrease from
    ///   one GOAWAY to the next.
    package func goAway(code: UInt32, debugData: [UInt8], lastStream: Int? = nil) {
        onLoop { $0.goAway(code: code, debugData: debugData, lastStream: lastStream) }
    }

    /// Reads nothing from the peer for this time. The peer fills its windows and the socket, and then has to wait. Each
    /// call starts the time again.
    package func pauseReading(for duration: Duration) { onLoop { $0.pauseReading(for: TimeAmount(duration)) } }

    /// Closes the TCP connection without close_notify or GOAWAY, as if the process was killed.
    package func abort() { onLoop { $0.cut() } }

    /// Sends GOAWAY, and closes after all outstanding answers or after `drainTimeout`.
    func drain() { onLoop { $0.drain() } }

    /// Runs `body` on the connection's event loop, at once if the caller is there.
    func onLoop(_ body: @escaping @Sendable (ServerHandler) -> Void) {
        let handler = handler
        if loop.inEventLoop { return handler.value.perform(body) }
        loop.execute { handler.value.perform(body) }
    }
}
