internal import NIOCore
internal import NIOHTTP1

/// Closes connections that take too long. This handler is next to the socket, before TLS, and sees only bytes.
/// `RequestProgress` reports requests and answers to it.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var deadlines: ConnectionDeadlines
    private let shares: ConnectionShares?
    private var context: ChannelHandlerContext?
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
        arm(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        timer?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        deadlines.receivedBytes(at: Self.now)
        context.fireChannelRead(data)
        arm(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let channel = context.channel
        deadlines.writability(channel.isWritable, at: Self.now)
        arm(context)
        let waiting = channel.isWritable ? 0 : try? channel.syncOptions?.getOption(.bufferedWritableBytes)
        shares?.hold(waiting ?? 0, for: channel)
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            deadlines.stop(at: Self.now)
            arm(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Notes a step of a request or an answer.
    func note(_ step: (inout ConnectionDeadlines, _ now: Int64) -> Void) {
        step(&deadlines, Self.now)
        if let context { arm(context) }
    }

    /// Sets a timer for the deadline. If the timer fires before the deadline, it is set again.
    private func arm(_ context: ChannelHandlerContext) {
        guard let deadline = deadlines.deadline, timerAt.map({ deadline < $0 }) ?? true else { return }
        timer?.cancel()
        timerAt = deadline
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(clamping: deadline))) {
            let (handler, context) = bound.value
            handler.fire(context)
        }
    }

    private func fire(_ context: ChannelHandlerContext) {
        timerAt = nil
        if let deadline = deadlines.deadline, deadline <= Self.now {
            context.close(promise: nil)
        } else {
            arm(context)
        }
    }
}
