internal import NIOCore
internal import NIOHTTP1

/// The HTTP/1.1 handler of the control API. It answers one request after the other, and limits bodies.
final class ControlHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The most bytes of a body; more get 413.
    static let maximumBody = 4 << 20

    private let router: ControlRouter
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isTooLarge = false
    private var task: Task<Void, Never>?

    init(_ router: ControlRouter) { self.router = router }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            isTooLarge = false
        case .body(let buffer):
            if body.count + buffer.readableBytes > Self.maximumBody {
                isTooLarge = true
                body = []
            } else if !isTooLarge {
                body += buffer.readableBytesView
            }
        case .end: respond(context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        task?.cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func respond(_ context: ChannelHandlerContext) {
        guard let head else { return }
        self.head = nil
        if isTooLarge { return write(.failure(413, "The body is larger than 4 MB."), to: head, context) }
        guard let request = ControlRequest(method: head.method.rawValue, target: head.uri, body: body) else {
            return write(.failure(400, "The path is not percent-encoded UTF-8."), to: head, context)
        }
        let router = router
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        task = Task {
            let answer = await router.answer(request)
            loop.execute { bound.value.handler.write(answer, to: head, bound.value.context) }
        }
    }

    private func write(_ answer: ControlAnswer, to head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        var bytes = answer.body
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
        var headers = HTTPHeaders()
        if answer.status != 204 { headers.add(name: "content-length", value: String(bytes.count)) }
        if !bytes.isEmpty { headers.add(name: "content-type", value: "application/json") }
        if !head.isKeepAlive { headers.add(name: "connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: answer.status)
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: status, headers: headers))),
            promise: nil)
        if head.method != .HEAD, !bytes.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
        }
        let isLast = !head.isKeepAlive
        let done = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        if isLast { done.futureResult.whenComplete { _ in channel.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    }
}
