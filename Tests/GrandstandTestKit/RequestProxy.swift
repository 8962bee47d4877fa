internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// An HTTP server on loopback between a client and a server. The test decides what happens to each complete request.
package final class RequestProxy: Sendable {
    package struct Response: Sendable {
        package var status: Int
        /// The header fields, by name. `content-length` is added.
        package var headers: [String: String]
        package var body: [UInt8]

        package init(status: Int, headers: [String: String], body: [UInt8]) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// - Returns: `nil` closes the connection without an answer.
    package typealias Carry = @Sendable (Receiver.Request) async -> Response?

    private let channel: any Channel

    private init(_ channel: any Channel) { self.channel = channel }

    package var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    /// Runs `body` with a proxy, and stops the proxy afterwards.
    package static func with<Value>(
        carry: @escaping Carry, isolation: isolated (any Actor)? = #isolation,
        _ body: (RequestProxy) async throws -> Value
    ) async throws -> Value {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(ProxyHandler(carry))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let value = try await body(RequestProxy(channel))
            try await channel.close().get()
            return value
        } catch {
            try? await channel.close().get()
            throw error
        }
    }
}

private final class ProxyHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let carry: RequestProxy.Carry
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ carry: @escaping RequestProxy.Carry) { self.carry = carry }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let bytes): body += bytes.readableBytesView
        case .end:
            guard let head else { return }
            let headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
            let request = Receiver.Request(method: head.method.rawValue, target: head.uri, headers: headers, body: body)
            // Pipelined requests wait for each other. This is configured in the pipeline above.
            Self.pass(request, to: carry, from: context.channel)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private static func pass(
        _ request: Receiver.Request, to carry: @escaping RequestProxy.Carry, from channel: any Channel
    ) {
        Task {
            let response = await carry(request)
            answer(response, on: channel)
        }
    }

    private static func answer(_ response: RequestProxy.Response?, on channel: any Channel) {
        guard let response else { return channel.close(promise: nil) }
        var headers = HTTPHeaders(response.headers.map { ($0.key, $0.value) })
        if ![204, 304].contains(response.status) {
            headers.replaceOrAdd(name: "content-length", value: String(response.body.count))
        }
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if !response.body.isEmpty {
            channel.write(
                HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: response.body))), promise: nil)
        }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }
}
