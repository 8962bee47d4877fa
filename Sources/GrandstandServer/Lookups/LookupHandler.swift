internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Answers lookups in a connection's pipeline, after parsing and before routing, on the connection's event loop. A
/// route would cost two task switches, a context and three copies of the header fields.
///
/// This handler answers only while no other request of the connection is in progress, so that answers keep the order of
/// their requests.
final class LookupHandler: ExchangeHandler {
    private let lookups: LookupResponder
    /// Told how many requests were answered, for the connection's timeouts. The answers of this handler go from the
    /// encoder's place to the network, so no other handler sees them.
    private let countAnswers: (Int) -> Void
    /// The encoder's context. Bytes that are written to this context do not pass the encoder but go on to the network,
    /// because the bytes are already encoded.
    private var encoderContext: ChannelHandlerContext?
    /// The requests that were passed on and are not answered yet.
    private var routedCount = 0
    /// The answer to a request whose end has not been read yet.
    private var answer: LookupResponse?
    /// Answers that are written and not flushed yet.
    private var unsentCount = 0

    init(lookups: LookupResponder, countAnswers: @escaping (Int) -> Void) {
        self.lookups = lookups
        self.countAnswers = countAnswers
    }

    func handlerAdded(context: ChannelHandlerContext) {
        encoderContext = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
    }

    func handlerRemoved(context: ChannelHandlerContext) { encoderContext = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // If the client does not read its answers, the request goes to the router, which waits for the client only
            // for a limited time.
            if routedCount == 0, encoderContext != nil, context.channel.isWritable {
                answer = lookups.answer(head)
                if answer != nil { return }
            }
            routedCount += 1
        case .body: break
        case .end:
            guard let answer, let encoderContext else { break }
            self.answer = nil
            encoderContext.write(NIOAny(Self.bytes(answer, context.channel.allocator)), promise: nil)
            unsentCount += 1
            return
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if unsentCount > 0 {
            context.flush()
            countAnswers(unsentCount)
            unsentCount = 0
        }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { routedCount -= 1 }
        context.write(data, promise: promise)
    }

    /// The answer in HTTP/1.1 format.
    private static func bytes(_ answer: LookupResponse, _ allocator: ByteBufferAllocator) -> ByteBuffer {
        // The status line and all header fields need less than 640 bytes.
        var buffer = allocator.buffer(capacity: 640 + answer.body.count)
        buffer.writeStaticString(answer.body.isEmpty ? "HTTP/1.1 304 Not Modified\r\n" : "HTTP/1.1 200 OK\r\n")
        for field in answer.headers {
            buffer.writeString(field.name.rawName)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
        if !answer.body.isEmpty { buffer.writeString("Content-Length: \(answer.body.count)\r\n") }
        buffer.writeStaticString("\r\n")
        buffer.writeBytes(answer.body)
        return buffer
    }
}
