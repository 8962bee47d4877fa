internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The listener of the control API.
struct ControlServer: Sendable {
    private let listener: any Channel

    var port: Int { listener.localAddress?.port ?? 0 }

    /// - Throws: if the server cannot listen. The error says what to do.
    init(
        host: String, port: Int, answer: @escaping @Sendable (ControlRequest) async -> ControlAnswer
    ) async throws {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // A pipelined request waits for the answer before it.
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: true)
                    try channel.pipeline.syncOperations.addHandler(ControlHandler(answer))
                }
            }
        do {
            listener = try await bootstrap.bind(host: host, port: port).get()
        } catch {
            throw SimulatorError(
                "The control API cannot listen on \(host):\(port) (\(error)): choose another --control-port.")
        }
    }

    func stop() async { try? await listener.close() }
}

/// The HTTP/1.1 handler of the control API. It answers one request after the other, and limits bodies.
final class ControlHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The most bytes of a body; more get 413.
    static let maximumBody = 4 << 20

    private let answer: @Sendable (ControlRequest) async -> ControlAnswer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isTooLarge = false
    private var task: Task<Void, Never>?

    init(_ answer: @escaping @Sendable (ControlRequest) async -> ControlAnswer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            isTooLarge = false
        case .body(let buffer):
            isTooLarge = isTooLarge || body.count + buffer.readableBytes > Self.maximumBody
            if isTooLarge { body = [] } else { body += buffer.readableBytesView }
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
        let request: ControlRequest
        do {
            if isTooLarge { throw SimulatorError("The body is larger than 4 MB.", status: 413) }
            request = try ControlRequest(method: head.method.rawValue, target: head.uri, body: body)
        } catch {
            return write(ControlAnswer(error), to: head, context)
        }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let (loop, answer) = (context.eventLoop, answer)
        task = Task {
            let answer = await answer(request)
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
        let done = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        if !head.isKeepAlive { done.futureResult.whenComplete { _ in channel.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    }
}
