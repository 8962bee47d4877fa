internal import NIOCore

/// Asks a proxy for a connection to the server. When the connection is open, `ClientConnector` removes this handler.
final class ProxyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let configuration: HTTP2ClientConfiguration
    private let proxy: HTTP2Proxy
    private let deadline: NIODeadline
    private var opened: EventLoopPromise<Void>?
    private var timer: Scheduled<Void>?
    private var reply = ProxyReply()

    /// - Parameter opened: succeeds when the proxy has connected to the server, so that all later bytes come from the
    ///   server; fails with `HTTP2ConnectError`.
    init(
        _ configuration: HTTP2ClientConfiguration, proxy: HTTP2Proxy, deadline: NIODeadline,
        opened: EventLoopPromise<Void>
    ) {
        self.configuration = configuration
        self.proxy = proxy
        self.deadline = deadline
        self.opened = opened
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        let address = "\(host):\(configuration.port)"
        var request = "CONNECT \(address) HTTP/1.1\r\nHost: \(address)\r\n"
        if let authorization = proxy.authorization { request += "Proxy-Authorization: \(authorization)\r\n" }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request + "\r\n")), promise: nil)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: deadline) {
            let (handler, context) = bound.value
            handler.fail(context, "did not answer CONNECT within \(handler.configuration.connectTimeout)")
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { finish(.failure(ChannelError.ioOnClosedChannel)) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard opened != nil else { return context.fireChannelRead(data) }
        switch reply.read(unwrapInboundIn(data).readableBytesView) {
        case .incomplete: break
        case .open:
            finish(.success(()))
        case .refused(407, let line):
            fail(context, "refused the credentials (\(line)): check the user and password in HTTPS_PROXY")
        case .refused(_, let line):
            fail(context, "refused the connection (\(line)): check that it allows CONNECT to this host and port")
        case .nonsense:
            fail(context, "did not answer as an HTTP proxy: check host and port in HTTPS_PROXY")
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(context, "closed the connection without an answer to CONNECT: check HTTPS_PROXY and the proxy's log")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(context, "lost the connection: \(ConnectProgress.lossText(error))")
    }

    private func fail(_ context: ChannelHandlerContext, _ what: String) {
        guard opened != nil else { return }
        let message = "the proxy \(proxy) on the way to \(configuration.host):\(configuration.port) \(what)"
        finish(.failure(HTTP2ConnectError(kind: .proxy, message: message)))
        context.close(promise: nil)
    }

    private func finish(_ result: Result<Void, any Error>) {
        timer?.cancel()
        timer = nil
        opened?.completeWith(result)
        opened = nil
    }
}
