package import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore

/// One connection to an HTTP/2 server, from `connect` to its end; it does not come back. A pool makes another.
///
/// Safe to use from any thread. Requests are sent in the order they are made, as the peer's limits allow.
package final class HTTP2ClientConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<ClientHandler>
    private let inbox: CommandInbox<ClientCommand>
    private let snapshot: NIOLockedValueBox<ClientSnapshot>
    private let signal: ClosedSignal
    private let executor: LoopTaskExecutor

    /// On the channel's loop.
    init(channel: any Channel, handler: ClientHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        inbox = handler.inbox
        snapshot = handler.snapshot
        signal = handler.closed
        executor = LoopTaskExecutor(channel.eventLoop)
    }

    deinit { order(.close("nobody uses the connection any more")) }

    /// Looks the host up, connects, agrees on TLS and `h2`, waits for the peer's first SETTINGS.
    ///
    /// The name is looked up anew each time. Ends within `configuration.connectTimeout`; cancelling the task ends it
    /// at once.
    package static func connect(
        _ configuration: HTTP2ClientConfiguration, logger: Logger
    ) async throws(HTTP2ConnectError) -> HTTP2ClientConnection {
        try await ClientConnector(configuration: configuration, logger: logger).connect()
    }

    // MARK: Requests

    /// Sends a request and waits for its whole answer.
    ///
    /// - Parameter timeout: ticks from now on, the wait for a free stream included. When it is up the stream is reset
    ///   and another request may have its slot.
    /// - Throws: `notProcessed` when the request may be sent again without a second thought; `unanswered` when the
    ///   peer may have processed it; `cancelled` when the task was (the stream is reset then).
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

    /// Lifts `initialConcurrency`: the peer has accepted a request, so its SETTINGS alone rule from now on.
    package func streamsProven() { order(.proven) }

    // MARK: State

    /// All that a pool balances by, in one look.
    package var load: HTTP2ConnectionLoad {
        let seen = snapshot.withLockedValue { ($0.isUsable, $0.streamsInUse, $0.streamLimit, $0.waiting) }
        return HTTP2ConnectionLoad(
            isUsable: seen.0, streamsInUse: seen.1, streamLimit: seen.2, waiting: seen.3 + inbox.count)
    }

    /// Connected, and takes requests: not draining, not closed.
    package var isUsable: Bool { snapshot.withLockedValue { $0.isUsable } }

    /// Streams that count for the peer at the end of the last batch.
    package var streamsInUse: Int { snapshot.withLockedValue { $0.streamsInUse } }

    /// Streams allowed now: the peer's limit or our cap, whichever is lower.
    package var streamLimit: Int { snapshot.withLockedValue { $0.streamLimit } }

    /// Requests without a stream, those on their way to the loop included.
    package var waiting: Int { snapshot.withLockedValue { $0.waiting } + inbox.count }

    /// The peer's GOAWAY, if it sent one. APNs puts `{"reason":…}` into the debug data.
    package var goAway: (code: UInt32, debugData: [UInt8])? {
        snapshot.withLockedValue { $0.goAway.map { ($0.code, $0.debugData) } }
    }

    /// When something came from the peer, in nanoseconds of a steady clock.
    package var lastRead: UInt64 { snapshot.withLockedValue { $0.lastRead } }

    /// Whether it ended because the peer gave no sign of life, after a PING either, while answers were awaited.
    package var fellSilent: Bool { snapshot.withLockedValue { $0.fellSilent } }

    /// The connection's event loop as a task executor. Callers that run on it are answered without a thread hop, which
    /// gains about a third; what they do between two calls must be short, since it holds the connection up.
    package var taskExecutor: any TaskExecutor { executor }

    // MARK: The end

    /// Returns when the connection is gone, with the reason in words. Returns early when the task is cancelled.
    package func closed() async -> String { await signal.wait() }

    /// Takes no more requests, gives back those without a stream as `notProcessed`, waits for those in flight up to
    /// `drainTimeout`, closes.
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
