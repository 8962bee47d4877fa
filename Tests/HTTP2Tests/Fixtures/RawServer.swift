internal import NIOCore
internal import NIOPosix

@testable import HTTP2

/// A server with TLS and `h2` (or `protocols`) that sends the test's bytes. It sends `bytes` when the client's first
/// data has arrived, and `answer` when the client's first request has arrived. Otherwise it only reads.
struct RawServer: Sendable {
    private let listener: any Channel

    /// Without `identity`, the server has no TLS: it sends `bytes` as they are, or nothing if there are none.
    static func start(
        identity: TestAuthority.Identity? = TestAuthority.shared.local, protocols: [String] = ["h2"],
        bytes: [UInt8], answer: [UInt8] = [], thenClose: Bool = false, asksForCertificate: Bool = false
    ) async throws -> RawServer {
        let tls = try identity?.server(protocols: protocols, asksForCertificate: asksForCertificate)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(TLSHandler(tls)) }
                    try channel.pipeline.syncOperations.addHandler(
                        Speaker(bytes, answer: answer, thenClose: thenClose))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return RawServer(listener: listener)
    }

    /// Runs `body` with a connection to such a server.
    static func with(
        bytes: [UInt8], answer: [UInt8] = [], client: (inout HTTP2ClientConfiguration) -> Void = { _ in },
        _ body: (HTTP2ClientConnection) async throws -> Void
    ) async throws {
        let server = try await start(bytes: bytes, answer: answer)
        try await withConnection(server.port, client, body)
        await server.stop()
    }

    var port: Int { listener.localAddress?.port ?? 0 }

    func stop() async { try? await listener.close() }

    private final class Speaker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let bytes: [UInt8]
        private let answer: [UInt8]
        private let thenClose: Bool
        private var received: ByteBuffer?
        private var hasAnswered = false

        init(_ bytes: [UInt8], answer: [UInt8], thenClose: Bool) {
            self.bytes = bytes
            self.answer = answer
            self.thenClose = thenClose
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var incoming = unwrapInboundIn(data)
            if var received {
                received.writeBuffer(&incoming)
                self.received = received
            } else {
                // The client's preface of 24 bytes arrives with its first data.
                incoming.moveReaderIndex(forwardBy: min(24, incoming.readableBytes))
                received = incoming
                say(bytes, context)
            }
            if !hasAnswered, sawHeaders() {
                hasAnswered = true
                say(answer, context)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func say(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            guard !bytes.isEmpty else { return }
            let write = context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)))
            guard thenClose else { return }
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            write.whenComplete { _ in bound.value.close(promise: nil) }
        }

        /// Reads complete frames until one of them is HEADERS.
        private func sawHeaders() -> Bool {
            while var buffer = received, let high = buffer.readInteger(as: UInt8.self),
                let low = buffer.readInteger(as: UInt16.self), let type = buffer.readInteger(as: UInt8.self),
                buffer.readSlice(length: 5 + (Int(high) << 16) + Int(low)) != nil
            {
                received = buffer
                if type == 1 { return true }
            }
            return false
        }
    }
}

/// Frames as bytes.
enum Frame {
    static func make(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = UInt32(payload.count)
        return [UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8)]
            + [UInt8(truncatingIfNeeded: length), type, flags]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) } + payload
    }

    static let settings = make(type: 4)
    static let settingsAck = make(type: 4, flags: 1)
    static let ping = make(type: 6, [1, 2, 3, 4, 5, 6, 7, 8])
    /// `:status: 200`, from HPACK's static table.
    static let status200: [UInt8] = [0x88]
}
