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
    let closed: ClosedSignal
    private let loop: any EventLoop
    private let inbox: CommandInbox<ServerCommand>
    private let handler: NIOLoopBound<ServerChannelHandler>
    private let name = NIOLockedValueBox<String?>(nil)
    private let userInfo = NIOLockedValueBox<(any Sendable)?>(nil)

    /// Must be called on the channel's loop.
    init(channel: any Channel, handler: ServerChannelHandler) {
        id = Self.counter.withLockedValue { counter in
            counter += 1
            return counter
        }
        remoteAddress =
            channel.remoteAddress.flatMap { address in
                address.ipAddress.map { "\($0):\(address.port ?? 0)" }
            } ?? "unknown"
        loop = channel.eventLoop
        inbox = handler.inbox
        closed = handler.closed
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// The server name in the client's ClientHello (SNI, RFC 6066 3); `nil`: none.
    package internal(set) var serverName: String? {
        get { name.withLockedValue { $0 } }
        set { name.withLockedValue { $0 = newValue } }
    }

    /// Gives access to any value that the handler stores for this connection, under a lock.
    package func withUserInfo<Result>(_ body: (inout (any Sendable)?) throws -> Result) rethrows -> Result {
        try userInfo.withLockedValue(body)
    }

    /// Sends SETTINGS_MAX_CONCURRENT_STREAMS. Open streams stay open and still count.
    package func setMaximumConcurrentStreams(_ limit: Int) { order(.setMaximumConcurrentStreams(limit)) }

    /// Sends GOAWAY. Open streams up to `lastStream` are still answered, and open streams above it are refused. Streams
    /// that the client opens later are ignored. The connection closes after the last answer.
    ///
    /// - Parameter lastStream: `nil` and a number above all streams mean all streams so far. It may only decrease from
    ///   one GOAWAY to the next.
    package func goAway(code: UInt32, debugData: [UInt8], lastStream: Int? = nil) {
        order(.goAway(code: code, debugData: debugData, lastStream: lastStream))
    }

    /// Reads nothing from the peer for this time. The peer fills its windows and the socket, and then has to wait. Each
    /// call starts the time again.
    package func pauseReading(for duration: Duration) { order(.pauseReading(duration)) }

    /// Closes the TCP connection without close_notify or GOAWAY, as if the process was killed.
    package func close() { order(.cut) }

    /// Sends GOAWAY, and closes after all outstanding answers or after `drainTimeout`.
    func drain() { order(.drain) }

    func order(_ command: ServerCommand) {
        if loop.inEventLoop { return handler.value.perform(command) }
        guard inbox.append(command) else { return }
        let handler = handler
        loop.execute { handler.value.wake() }
    }
}
