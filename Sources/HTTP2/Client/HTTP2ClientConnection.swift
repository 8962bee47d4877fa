package import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// One connection to an HTTP/2 server, from `connect` to its end. It cannot be reopened; a pool opens another
/// connection.
///
/// It can be used from any thread. Requests are sent in the order of the calls, as the peer's limits allow.
package final class HTTP2ClientConnection: Sendable {
    private let loop: any EventLoop
    private let handler: NIOLoopBound<ClientHandler>
    private let shared: NIOLockedValueBox<HTTP2ConnectionState>
    private let end: EventLoopFuture<String>

    /// Must be called on the handler's loop.
    private init(_ handler: ClientHandler, on loop: any EventLoop) {
        self.loop = loop
        self.handler = NIOLoopBound(handler, eventLoop: loop)
        shared = handler.state
        end = handler.closed.futureResult
    }

    deinit { onLoop { $0.end("the connection is no longer used") } }

    /// Resolves the host, connects, negotiates TLS and `h2`, and waits for the peer's first SETTINGS.
    ///
    /// The name is resolved each time. The attempt ends within `configuration.connectTimeout`, and at once if the task
    /// is cancelled.
    package static func connect(
        _ configuration: HTTP2ClientConfiguration, logger: Logger
    ) async throws(HTTP2ConnectError) -> HTTP2ClientConnection {
        let tls = try configuration.trustRoots.tls()
        let timeout = TimeAmount(configuration.connectTimeout)
        let deadline = NIODeadline.now() + timeout
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let ready = loop.makePromise(of: Void.self)
        let connection = ClientBootstrap(group: loop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // The buffer holds several batches before the loop has to wait for the socket.
            .channelOption(.writeBufferWaterMark, value: .init(low: 128 << 10, high: 512 << 10))
            .connect(host: configuration.host, port: configuration.port)
            .flatMapThrowing { channel in
                // The handler is not made in the channel initializer. The initializer runs for each address that is
                // tried, and only one of these channels is connected.
                let handler = try ClientHandler(
                    configuration, connectDeadline: deadline, ready: ready, on: loop, logger: logger)
                try channel.pipeline.syncOperations.addHandlers([
                    TLSHandler(tls, peer: configuration.serverName ?? configuration.host), handler,
                ])
                return HTTP2ClientConnection(handler, on: loop)
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
            throw configuration.error(connecting: error)
        }
    }

    // MARK: Requests

    /// Sends a request and waits for its complete answer.
    ///
    /// - Parameter timeout: counts from now, including the wait for a free stream. After the timeout, the stream is
    ///   reset, and another request may use the stream's place.
    /// - Throws: `notProcessed` if repeating the request is safe; `unanswered` if the peer may have processed the
    ///   request; `cancelled` if the task was cancelled (the stream is reset).
    package nonisolated(nonsending) func send(
        _ request: HTTP2Request, timeout: Duration
    ) async throws(HTTP2Failure) -> HTTP2Response {
        if Task.isCancelled { throw .cancelled }
        let call = ClientCall(request, timeout: timeout, now: .now())
        shared.withLockedValue { $0.waitCount += 1 }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                call.continuation = continuation
                onLoop { $0.start(call) }
            }
        } onCancel: {
            onLoop { $0.cancel(call) }
        }
        return try outcome.get()
    }

    /// Ends the limit `initialStreamLimit`, because the peer has accepted a request. From now on, only the peer's
    /// SETTINGS and `maximumConcurrentStreams` limit the streams. Later calls have no effect.
    package func liftInitialLimit() {
        let isFirst = shared.withLockedValue { state in
            defer { state.isProven = true }
            return !state.isProven
        }
        if isFirst { onLoop { $0.liftLimit() } }
    }

    // MARK: State

    /// The connection's state now. The streams are counted at the end of the last batch.
    package var state: HTTP2ConnectionState { shared.withLockedValue { $0 } }

    // MARK: The end

    /// Returns when the connection has ended, with the reason. Returns early if the task is cancelled.
    package func untilClosed() async -> String {
        let reason = loop.makePromise(of: String.self)
        end.cascade(to: reason)
        return await withTaskCancellationHandler {
            (try? await reason.futureResult.get()) ?? ""
        } onCancel: {
            reason.succeed("no longer waiting")
        }
    }

    /// Accepts no more requests. Gives requests without a stream back as `notProcessed`. Waits up to `drainTimeout` for
    /// the requests in flight, and closes the connection.
    package func close() async {
        onLoop { $0.drain() }
        _ = await untilClosed()
    }

    /// Runs `body` on the connection's event loop.
    private func onLoop(_ body: @escaping @Sendable (ClientHandler) -> Void) {
        let handler = handler
        loop.execute { body(handler.value) }
    }
}

/// The state of a client's connection, for a pool's decisions, with all values read together.
package struct HTTP2ConnectionState: Sendable, Hashable {
    /// Whether the connection accepts requests: it is connected, not draining and not closed.
    package var isUsable = false
    /// Whether `liftInitialLimit()` was called.
    package var isProven = false
    /// The open streams, which count towards the peer's SETTINGS_MAX_CONCURRENT_STREAMS.
    package var streamsInUse = 0
    /// The maximum number of streams at present: the lower of the peer's limit and our own.
    package var streamLimit = 0
    /// The requests without a stream, including those that the connection's event loop has not seen yet.
    package var waitCount = 0
    /// The peer's GOAWAY, if it sent one.
    package var goAway: HTTP2GoAway?
    /// Whether the connection ended because the peer sent nothing while answers were awaited, not even after a PING.
    package var fellSilent = false

    /// A connection that is not open yet.
    package init() {}

    /// The requests on the connection, with or without a stream.
    package var requests: Int { streamsInUse + waitCount }

    /// The number of requests that would get a stream at once; negative if more are waiting than there is room for.
    package var free: Int { streamLimit - requests }
}
