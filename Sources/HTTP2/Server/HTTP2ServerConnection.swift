internal import NIOConcurrencyHelpers
internal import NIOCore

/// A client's connection on the server's side. Every method may be called from any thread. A call on the connection's
/// own event loop (in the handler's callbacks) has its effect at once, and its bytes are written with the rest of the
/// batch.
package final class HTTP2ServerConnection: Sendable {
    private static let counter = NIOLockedValueBox(0)

    /// Unique among the connections of this process.
    package let id: Int
    /// The peer's address and port, for logs.
    package let remoteAddress: String
    let closed: EventLoopFuture<String>
    private let loop: any EventLoop
    private let handler: NIOLoopBound<ServerHandler>
    private let name = NIOLockedValueBox<String?>(nil)

    /// Must be called on the channel's loop.
    init(channel: any Channel, handler: ServerHandler) {
        id = Self.counter.withLockedValue { counter in
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
        get { name.withLockedValue { $0 } }
        set { name.withLockedValue { $0 = newValue } }
    }

    /// Sends SETTINGS_MAX_CONCURRENT_STREAMS. Open streams stay open and still count.
    package func setMaximumConcurrentStreams(_ limit: Int) { order { $0.setMaximumConcurrentStreams(limit) } }

    /// Sends GOAWAY. Open streams up to `lastStream` are still answered, and open streams above it are refused. Streams
    /// that the client opens later are ignored. The connection closes after the last answer.
    ///
    /// - Parameter lastStream: `nil` and a number above all streams mean all streams so far. It may only decrease from
    ///   one GOAWAY to the next.
    package func goAway(code: UInt32, debugData: [UInt8], lastStream: Int? = nil) {
        order { $0.goAway(code: code, debugData: debugData, lastStream: lastStream) }
    }

    /// Reads nothing from the peer for this time. The peer fills its windows and the socket, and then has to wait. Each
    /// call starts the time again.
    package func pauseReading(for duration: Duration) { order { $0.pauseReading(for: TimeAmount(duration)) } }

    /// Closes the TCP connection without close_notify or GOAWAY, as if the process was killed.
    package func close() { order { $0.cut() } }

    /// Sends GOAWAY, and closes after all outstanding answers or after `drainTimeout`.
    func drain() { order { $0.drain() } }

    /// Runs `body` on the connection's event loop, at once if the caller is there.
    func order(_ body: @escaping @Sendable (ServerHandler) -> Void) {
        let handler = handler
        if loop.inEventLoop { return handler.value.perform(body) }
        loop.execute { handler.value.perform(body) }
    }
}
