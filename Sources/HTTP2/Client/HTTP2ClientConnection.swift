package import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore

/// One connection to an HTTP/2 server, from `connect` to its end. It cannot be reopened; a pool opens another
/// connection.
///
/// It can be used from any thread. Requests are sent in the order of the calls, as the peer's limits allow.
package final class HTTP2ClientConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<ClientHandler>
    private let inbox: CommandInbox<ClientCommand>
    private let snapshot: NIOLockedValueBox<ClientSnapshot>
    private let signal: ClosedSignal
    private let executor: LoopTaskExecutor

    /// Must be called on the channel's loop.
    init(channel: any Channel, handler: ClientHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        inbox = handler.inbox
        snapshot = handler.snapshot
        signal = handler.closed
        executor = LoopTaskExecutor(channel.eventLoop)
    }

    deinit { order(.close("the connection is no longer used")) }

    /// Resolves the host, connects, negotiates TLS and `h2`, and waits for the peer's first SETTINGS.
    ///
    /// The name is resolved each time. The attempt ends within `configuration.connectTimeout`, and at once if the task
    /// is cancelled.
    package static func connect(
        _ configuration: HTTP2ClientConfiguration, logger: Logger
    ) async throws(HTTP2ConnectError) -> HTTP2ClientConnection {
        try await ClientConnector(configuration: configuration, logger: logger).connect()
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
        let call = ClientCall(request, timeout: timeout)
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                call.continuation = continuation
                start(call)
            }
        } onCancel: {
            order(.cancel(call))
        }
        return try outcome.get()
    }

    /// Ends the limit `initialConcurrency`, because the peer has accepted a request. From now on, only the peer's
    /// SETTINGS and `maximumConcurrentStreams` limit the streams.
    package func streamsProven() { order(.proven) }

    // MARK: State

    /// The load for a pool's decisions, with all values read together.
    package var load: HTTP2ConnectionLoad {
        let seen = snapshot.withLockedValue { ($0.isUsable, $0.streamsInUse, $0.streamLimit, $0.waiting) }
        return HTTP2ConnectionLoad(
            isUsable: seen.0, streamsInUse: seen.1, streamLimit: seen.2, waiting: seen.3 + inbox.count)
    }

    /// Whether the connection accepts requests: it is connected, not draining and not closed.
    package var isUsable: Bool { snapshot.withLockedValue { $0.isUsable } }

    /// The open streams, which count towards the peer's SETTINGS_MAX_CONCURRENT_STREAMS, as they were at the end of the
    /// last batch.
    package var streamsInUse: Int { snapshot.withLockedValue { $0.streamsInUse } }

    /// The maximum number of streams at present: the lower of the peer's limit and our own.
    package var streamLimit: Int { snapshot.withLockedValue { $0.streamLimit } }

    /// The requests without a stream, including those that the loop has not seen yet.
    package var waiting: Int { snapshot.withLockedValue { $0.waiting } + inbox.count }

    /// The peer's GOAWAY, if it sent one. APNs puts `{"reason":…}` into the debug data.
    package var goAway: (code: UInt32, debugData: [UInt8])? {
        snapshot.withLockedValue { $0.goAway.map { ($0.code, $0.debugData) } }
    }

    /// When bytes last came from the peer, in nanoseconds of a monotonic clock.
    package var lastRead: UInt64 { snapshot.withLockedValue { $0.lastRead } }

    /// Whether the connection ended because the peer sent nothing while answers were awaited, not even after a PING.
    package var fellSilent: Bool { snapshot.withLockedValue { $0.fellSilent } }

    /// The connection's event loop as a task executor. Callers on this executor get their answers without a thread
    /// switch, so their requests are about a third faster. A caller's work between two requests must be short, because
    /// it blocks the connection.
    package var taskExecutor: any TaskExecutor { executor }

    // MARK: The end

    /// Returns when the connection has ended, with the reason. Returns early if the task is cancelled.
    package func closed() async -> String { await signal.wait() }

    /// Accepts no more requests. Gives requests without a stream back as `notProcessed`. Waits up to `drainTimeout` for
    /// the requests in flight, and closes the connection.
    package func close() async {
        order(.drain)
        _ = await signal.wait()
    }

    private func start(_ call: ClientCall) {
        if channel.eventLoop.inEventLoop { return handler.value.start(call) }
        order(.start(call))
    }

    private func order(_ command: ClientCommand) {
        let isUrgent = if case .start = command { false } else { true }
        guard inbox.append(command, isUrgent: isUrgent) else { return }
        let handler = handler
        channel.eventLoop.execute { handler.value.wake() }
    }
}
