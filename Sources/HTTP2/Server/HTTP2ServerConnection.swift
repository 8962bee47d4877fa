internal import NIOConcurrencyHelpers
internal import NIOCore

/// A client's connection, as the server sees it. Every method may be called from any thread; on the connection's own
/// event loop (inside the handler's callbacks) it takes effect at once, and is written with the rest of the batch.
package final class HTTP2ServerConnection: Sendable {
    private static let counter = NIOLockedValueBox(0)

    /// Unlike any other connection's in this process.
    package let id: Int
    /// The peer's address and port, for logs.
    package let remoteAddress: String
    let closed: ClosedSignal
    private let loop: any EventLoop
    private let inbox: CommandInbox<ServerCommand>
    private let handler: NIOLoopBound<ServerChannelHandler>
    private let name = NIOLockedValueBox<String?>(nil)
    private let userInfo = NIOLockedValueBox<(any Sendable)?>(nil)

    /// On the channel's loop.
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

    /// The name the client asked for in its ClientHello (SNI, RFC 6066 3); `nil` when it named none.
    package internal(set) var serverName: String? {
        get { name.withLockedValue { $0 } }
        set { name.withLockedValue { $0 = newValue } }
    }

    /// Whatever the handler wants to remember about this connection, under a lock.
    package func withUserInfo<Result>(_ body: (inout (any Sendable)?) throws -> Result) rethrows -> Result {
        try userInfo.withLockedValue(body)
    }

    /// Sends SETTINGS_MAX_CONCURRENT_STREAMS. Streams already open stay; the peer counts them.
    package func setMaximumConcurrentStreams(_ limit: Int) { order(.setMaximumConcurrentStreams(limit)) }

    /// Sends GOAWAY: streams up to `lastStream` are still answered, those above are refused, new ones ignored. The
    /// connection closes when the last answer is out.
    ///
    /// - Parameter lastStream: `nil`, or more than have come: all that have come. May only fall from one GOAWAY to the
    ///   next.
    package func goAway(code: UInt32, debugData: [UInt8], lastStream: Int? = nil) {
        order(.goAway(code: code, debugData: debugData, lastStream: lastStream))
    }

    /// Reads nothing from the peer for so long: it fills its windows and the socket, and waits. Each call counts anew.
    package func pauseReading(for duration: Duration) { order(.pauseReading(duration)) }

    /// Cuts the connection below TLS, without close_notify or GOAWAY: as if the process was killed.
    package func close() { order(.cut) }

    /// GOAWAY, then the end when every answer that is owed is out, or after `drainTimeout`.
    func drain() { order(.drain) }

    func order(_ command: ServerCommand) {
        if loop.inEventLoop { return handler.value.perform(command) }
        guard inbox.append(command) else { return }
        let handler = handler
        loop.execute { handler.value.wake() }
    }
}
