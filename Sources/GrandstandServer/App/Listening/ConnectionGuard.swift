internal import NIOCore
internal import NIOHTTP1

/// Closes a connection that takes too long. It is directly after the parser, so it sees requests and answers. Of bytes
/// that are not a whole part of a request yet, it sees only that they came.
final class ConnectionGuard: ExchangeHandler {
    private var deadlines: ConnectionDeadlines
    private let shares: ConnectionShares?
    private var context: ChannelHandlerContext?
    /// Whether the bytes that were read last completed a part of a request.
    private var hasParsed = false
    private var timer: Scheduled<Void>?
    /// The time at which the timer fires. If a received byte only moves the deadline to a later time, the timer is not
    /// set again, so the byte costs nothing.
    private var timerAt: Int64?

    /// - Parameters:
    ///   - timeout: how long a header may take.
    ///   - shares: is told how many bytes wait for the client.
    init(_ timeout: Duration, _ shares: ConnectionShares?) {
        deadlines = ConnectionDeadlines(header: Int64(timeout / .nanoseconds(1)), at: Self.now)
        self.shares = shares
    }

    private static var now: Int64 { Int64(clamping: NIODeadline.now().uptimeNanoseconds) }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        arm()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        timer?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasParsed = true
        switch unwrapInboundIn(data) {
        case .head: note(.header)
        case .body: break
        case .end: note(.end)
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !hasParsed { note(.bytes) }
        hasParsed = false
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        if isEnd { note(.answered()) }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output { note(.finished) }
        context.close(mode: mode, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let channel = context.channel
        note(.writable(channel.isWritable))
        let waiting = channel.isWritable ? 0 : try? channel.syncOptions?.getOption(.bufferedWritableBytes)
        shares?.hold(waiting ?? 0, for: channel)
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { note(.stop) }
        context.fireUserInboundEventTriggered(event)
    }

    func note(_ step: ConnectionDeadlines.Step) {
        deadlines.note(step, at: Self.now)
        arm()
    }

    /// Sets a timer for the deadline. If the timer fires before the deadline, it is set again.
    private func arm() {
        guard let context, let deadline = deadlines.deadline, timerAt.map({ deadline < $0 }) ?? true else { return }
        timer?.cancel()
        timerAt = deadline
        let time = NIODeadline.uptimeNanoseconds(UInt64(clamping: deadline))
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) {
            self.timerAt = nil
            guard let deadline = self.deadlines.deadline, deadline <= Self.now else { return self.arm() }
            self.context?.close(promise: nil)
        }
    }
}
