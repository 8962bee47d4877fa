internal import Grandstand
internal import NIOCore
internal import NIOHTTP1

/// Closes a connection that takes too long. It is directly after the parser, so it sees whole parts of requests,
/// and answers.
final class DeadlineGuard: ExchangeHandler {
    private var deadlines: ConnectionDeadlines
    private let limit: ConnectionLimit?
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    /// The time between two looks at the deadline.
    private var tick: Int64

    /// - Parameters:
    ///   - timeout: how long a header may take.
    ///   - limit: is told how many bytes wait for the client.
    init(_ timeout: Duration, _ limit: ConnectionLimit?) {
        let header = Int64(timeout / .nanoseconds(1))
        (deadlines, tick) = (ConnectionDeadlines(header: header, at: Self.now), header / 4)
        self.limit = limit
    }

    private static var now: Int64 { Int64(clamping: NIODeadline.now().uptimeNanoseconds) }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        watch()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        timer?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: note(.header)
        case .body: break
        case .end: note(.end)
        }
        context.fireChannelRead(data)
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
        limit?.setUnread(waiting ?? 0, for: channel)
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            note(.stop)
            tick = min(tick, 500_000_000)
            timer?.cancel()
            watch()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func note(_ step: ConnectionDeadlines.Step) { deadlines.note(step, at: Self.now) }

    /// Looks at the deadline four times in the time that a header may take, and more often while the server stops.
    private func watch() {
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(tick)) {
            if let deadline = self.deadlines.deadline, deadline <= Self.now {
                self.context?.close(promise: nil)
            } else {
                self.watch()
            }
        }
    }
}
