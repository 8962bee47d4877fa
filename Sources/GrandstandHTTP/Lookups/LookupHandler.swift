internal import JSON
package import NIOCore
package import NIOHTTP1

/// Answers lookups in a connection's pipeline, after parsing and before routing, on the connection's event loop. A
/// route would cost two task switches, a context and three copies of the header fields.
///
/// It answers only while no other request of the connection is in progress, so that answers keep the order of their
/// requests. It also sets the `Date` of all other answers, because Hummingbird's is up to two seconds old.
package final class LookupHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    /// The outbound event after requests were answered here. The handler that watches the connection's timeouts needs
    /// it, because it does not see answers that are written behind the encoder.
    package struct Answered: Sendable {
        /// How many requests.
        package let count: Int
    }

    private let lookups: LookupResponder
    /// The place in the pipeline behind the encoder, for bytes that are already encoded.
    private var encoder: ChannelHandlerContext?
    /// The requests that were passed on and are not answered yet.
    private var underWay = 0
    /// The answer to a request whose end has not been read yet.
    private var answer: LookupResponse?
    /// Answers that are written and not flushed yet.
    private var answered = 0
    private var mustPass = false

    package init(lookups: LookupResponder) { self.lookups = lookups }

    package func handlerAdded(context: ChannelHandlerContext) {
        encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
    }

    package func handlerRemoved(context: ChannelHandlerContext) { encoder = nil }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // If the client does not read its answers, the request goes to the router, which waits for the client only
            // for a limited time.
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
            answered += 1
            return
        }
        mustPass = true
        context.fireChannelRead(data)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if answered > 0 {
            let event = Answered(count: answered)
            answered = 0
            context.flush()
            context.triggerUserOutboundEvent(event, promise: nil)
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
