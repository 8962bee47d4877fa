internal import JSON
package import NIOCore
package import NIOHTTP1

/// Stands in a connection's pipeline where requests are read and not yet routed, and answers lookups right there, on the
/// connection's event loop: a route costs a task's way there and back, a context and three copies of the header fields.
///
/// Only while nothing else is under way on the connection, so that answers keep the order of their requests. The others'
/// answers get the same `Date` here: Hummingbird's is up to two seconds old.
package final class LookupHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    /// Fired outwards when requests were answered here, for the handler that watches over the connection's time: an
    /// answer that is written below the encoder is seen by no other handler.
    package struct Answered: Sendable {}

    private let lookups: LookupResponder
    /// Where bytes are written that need no encoding any more.
    private var encoder: ChannelHandlerContext?
    /// Requests that went past and are not answered yet.
    private var underWay = 0
    /// The answer to a request that was not read to its end.
    private var answer: LookupResponse?
    private var mustFlush = false
    private var mustPass = false

    package init(lookups: LookupResponder) { self.lookups = lookups }

    package func handlerAdded(context: ChannelHandlerContext) {
        encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
    }

    package func handlerRemoved(context: ChannelHandlerContext) { encoder = nil }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // For a client that does not read its answers the router waits a bounded time.
            if underWay == 0, encoder != nil, context.channel.isWritable {
                answer = lookups.answer(head)
                if answer != nil { return }
            }
            underWay += 1
        case .body: break
        case .end:
            guard let answer, let encoder else { break }
            self.answer = nil
            var buffer = context.channel.allocator.buffer(capacity: 640)
            answer.write(to: &buffer)
            encoder.write(NIOAny(buffer), promise: nil)
            mustFlush = true
            return
        }
        mustPass = true
        context.fireChannelRead(data)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if mustFlush {
            mustFlush = false
            context.flush()
            context.triggerUserOutboundEvent(Answered(), promise: nil)
        }
        if mustPass {
            mustPass = false
            context.fireChannelReadComplete()
        }
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.code >= 200:
            head.headers.replaceOrAdd(name: "Date", value: lookups.date)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            return
        case .end: underWay -= 1
        case .head, .body: break
        }
        context.write(data, promise: promise)
    }
}
