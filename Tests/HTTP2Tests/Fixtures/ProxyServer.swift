import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

@testable import HTTP2

/// An HTTP proxy that answers CONNECT as the test says. After a 200 it passes bytes on.
struct ProxyServer: Sendable {
    private let listener: any Channel
    /// The headers of all CONNECT requests, in order.
    let requests: NIOLockedValueBox<[String]>

    /// - Parameter answer: the answer to CONNECT; `nil`: none.
    static func start(answer: String? = "HTTP/1.1 200 Connection established\r\n\r\n") async throws -> ProxyServer {
        let requests = NIOLockedValueBox<[String]>([])
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(answer: answer, requests: requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return ProxyServer(listener: listener, requests: requests)
    }

    var proxy: HTTP2Proxy { HTTP2Proxy(host: "127.0.0.1", port: listener.localAddress?.port ?? 0) }

    func stop() async { try? await listener.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let answer: String?
        private let requests: NIOLockedValueBox<[String]>
        private var header = ""
        private var peer: (any Channel)?

        init(answer: String?, requests: NIOLockedValueBox<[String]>) {
            self.answer = answer
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if let peer { return peer.writeAndFlush(unwrapInboundIn(data), promise: nil) }
            header += String(buffer: unwrapInboundIn(data))
            guard header.hasSuffix("\r\n\r\n") else { return }
            requests.withLockedValue { $0.append(header) }
            guard let answer else { return }
            guard answer.contains(" 200 ") else {
                return context.channel.writeAndFlush(ByteBuffer(string: answer), promise: nil)
            }
            let place = header.split(separator: " ")[1].split(separator: ":")
            let client = context.channel
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Back(client))
                    }
                }
                .connect(host: String(place[0]), port: Int(place[1]) ?? 0)
                .whenSuccess { channel in
                    bound.value.peer = channel
                    client.writeAndFlush(ByteBuffer(string: answer), promise: nil)
                }
        }

        func channelInactive(context: ChannelHandlerContext) { peer?.close(promise: nil) }
    }

    private final class Back: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let client: any Channel

        init(_ client: any Channel) { self.client = client }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            client.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
    }
}
