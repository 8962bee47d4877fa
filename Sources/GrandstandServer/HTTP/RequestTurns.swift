internal import NIOCore
internal import NIOHTTP1

/// Passes on a connection's requests one at a time. The next request follows when the previous request is answered and
/// the client has read most of its answer. Without this rule, a client that sends many requests and reads nothing would
/// make the server hold many answers.
///
/// While requests wait here, nothing more is read from the connection.
final class RequestTurns: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Waiting {
        case part(HTTPServerRequestPart)
        /// An error of the parser, to be passed on after the parts that were read before it.
        case fault(HTTPParserError)
        case inputClosed
    }

    private var waiting = CircularBuffer<Waiting>(initialCapacity: 0)
    private var isAnswering = false
    private var wantsRead = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if waiting.isEmpty, mayPass(part, context) {
            pass(part, context)
        } else {
            waiting.append(.part(part))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !waiting.isEmpty, let fault = error as? HTTPParserError {
            waiting.append(.fault(fault))
        } else {
            context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !waiting.isEmpty, event as? ChannelEvent == .inputClosed {
            waiting.append(.inputClosed)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        waiting.removeAll()
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        resume(context)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd: Bool
        if case .end = unwrapOutboundIn(data) { isEnd = true } else { isEnd = false }
        context.write(data, promise: promise)
        guard isEnd else { return }
        isAnswering = false
        resume(context)
    }

    func read(context: ChannelHandlerContext) {
        if waiting.isEmpty {
            context.read()
        } else {
            wantsRead = true
        }
    }

    private func mayPass(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) -> Bool {
        guard case .head = part else { return true }
        return !isAnswering && context.channel.isWritable
    }

    private func pass(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        if case .head = part { isAnswering = true }
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func resume(_ context: ChannelHandlerContext) {
        guard !waiting.isEmpty else { return }
        var hasPassed = false
        passing: while let next = waiting.first {
            switch next {
            case .part(let part):
                guard mayPass(part, context) else { break passing }
                waiting.removeFirst()
                pass(part, context)
            case .fault(let fault):
                waiting.removeFirst()
                context.fireErrorCaught(fault)
            case .inputClosed:
                waiting.removeFirst()
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
            hasPassed = true
        }
        if hasPassed { context.fireChannelReadComplete() }
        if waiting.isEmpty, wantsRead {
            wantsRead = false
            context.read()
        }
    }
}
