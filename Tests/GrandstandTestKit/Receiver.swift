internal import Cryptography
internal import HTTP2
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// An HTTP server on loopback, such as a webhook's receiver. It stores the requests and answers as the test says.
package final class Receiver: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var target: String
        /// The header fields, by name in lower case.
        package var headers: [String: String]
        package var body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The answer to a request.
    package enum Reaction: Sendable {
        /// - Parameter length: the length of the answer's body in bytes.
        case answer(Int, headers: [String: String] = [:], length: Int = 0)
        /// An answer with these bytes as its body.
        ///
        /// - Parameter claimed: the length that the answer announces. If the body is shorter, the connection is closed
        ///   after it.
        case file([UInt8], claimed: Int? = nil)
        /// No answer, ever.
        case silence
        /// Closes the connection.
        case hangUp
    }

    /// A certificate and its key, in PEM.
    package typealias Identity = (certificate: [UInt8], key: [UInt8])

    private struct State {
        var requests: [Request] = []
        var connections = 0
    }

    private let state = Mutex(State())
    private let channel: Mutex<(any NIOCore.Channel)?> = Mutex(nil)
    private let react: @Sendable (Int, Request) -> Reaction
    /// An element for each request.
    private let arrivals = AsyncStream.makeStream(of: Void.self)

    private init(_ react: @escaping @Sendable (Int, Request) -> Reaction) { self.react = react }

    private static func start(_ identity: Identity?, _ receiver: Receiver) async throws {
        let context = try identity.map { identity in
            try TLSContext.server(
                chain: Certificate.all(pem: identity.certificate), key: PrivateKey(pem: identity.key))
        }
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    receiver.state.withLock { $0.connections += 1 }
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(TLSHandler(context)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(ReceiverHandler(receiver))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        receiver.channel.withLock { $0 = channel }
    }

    /// Runs `body` with a receiver on a free port of 127.0.0.1, and stops the receiver afterwards.
    ///
    /// - Parameter react: gets the request and its number, which starts at 0.
    package static func with<Value>(
        _ identity: Identity? = nil,
        react: @escaping @Sendable (Int, Request) -> Reaction = { _, _ in .answer(204) },
        isolation: isolated (any Actor)? = #isolation, _ body: (Receiver) async throws -> Value
    ) async throws -> Value {
        let receiver = Receiver(react)
        try await start(identity, receiver)
        return try await ending(with: { try await receiver.stop() }) { try await body(receiver) }
    }

    package var port: Int { channel.withLock { $0?.localAddress?.port } ?? 0 }
    package var url: String { "http://127.0.0.1:\(port)" }
    package var requests: [Request] { state.withLock { $0.requests } }
    /// The number of connections so far.
    package var connections: Int { state.withLock { $0.connections } }

    /// Waits until there are this many requests, and returns all.
    package func wait(for count: Int) async -> [Request] {
        if requests.count < count { for await _ in arrivals.stream where requests.count >= count { break } }
        return requests
    }

    package func stop() async throws {
        try await channel.withLock { $0.take() }?.close().get()
    }

    fileprivate func take(_ request: Request) -> Reaction {
        defer { arrivals.continuation.yield() }
        return state.withLock { state in
            defer { state.requests.append(request) }
            return react(state.requests.count, request)
        }
    }
}

private final class ReceiverHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let receiver: Receiver
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ receiver: Receiver) { self.receiver = receiver }

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
            Self.perform(receiver.take(request), on: context.channel)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private static func perform(_ reaction: Receiver.Reaction, on channel: any NIOCore.Channel) {
        switch reaction {
        case .silence: return
        case .hangUp: channel.close(promise: nil)
        case .file(let bytes, let claimed): answer(200, [:], ByteBuffer(bytes: bytes), claimed: claimed, on: channel)
        case .answer(let status, let headers, let length):
            answer(status, headers, ByteBuffer(repeating: 0x20, count: length), on: channel)
        }
    }

    private static func answer(
        _ status: Int, _ headers: [String: String], _ body: ByteBuffer, claimed: Int? = nil,
        on channel: any NIOCore.Channel
    ) {
        var fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
        if ![204, 304].contains(status) {
            fields.replaceOrAdd(name: "content-length", value: String(claimed ?? body.readableBytes))
        }
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: fields)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if body.readableBytes > 0 {
            channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil)
        }
        if let claimed, claimed > body.readableBytes { return channel.close(promise: nil) }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }
}
