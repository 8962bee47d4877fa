import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

@testable import HTTP2

/// A server's connection without a socket, on a clock that the test holds.
struct IdleTests {
    @Test func `a client that waits for an answer is not idle`() throws {
        let held = NIOLockedValueBox<HTTP2ServerStream?>(nil)
        let handler = TestHandler.answering { _, stream in
            held.withLockedValue { $0 = stream }
        }
        var settings = HTTP2ServerConfiguration(
            host: "127.0.0.1", port: 0, tls: try TestAuthority.shared.local.server())
        settings.idleTimeout = .seconds(10)
        let channel = EmbeddedChannel()
        let server = try ServerHandler(settings, handler: handler, on: channel.embeddedEventLoop, logger: quiet)
        server.connection = HTTP2ServerConnection(channel: channel, handler: server)
        try channel.pipeline.syncOperations.addHandler(server)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"))
        // GET https://a/ in HPACK's static table.
        let request = Frame.make(type: 1, flags: 0x5, stream: 1, [0x82, 0x87, 0x84, 0x41, 1, 0x61])
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        try channel.writeInbound(ByteBuffer(bytes: preface + Frame.settings + request))
        let stream = try #require(held.withLockedValue { $0 })
        channel.embeddedEventLoop.advanceTime(by: .seconds(19))
        #expect(channel.isActive)
        stream.respond(status: 200, headers: [], body: [])
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
