import COpenSSL
import Cryptography
import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

@testable import HTTP2

/// A client and a server of TLS, whose bytes the test carries from one to the other.
struct TLSHandlerTests {
    private final class Side: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        let channel = EmbeddedChannel()
        let tls: TLSHandler
        private(set) var text = ""
        private(set) var error: TLSError?
        private(set) var negotiated: String??
        private(set) var inputsClosed = 0

        init(_ tls: TLSHandler) throws {
            self.tls = tls
            try channel.pipeline.syncOperations.addHandlers([Socket(), tls, self])
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted(let name)? = event as? TLSUserEvent { negotiated = name }
            if case .inputClosed? = event as? ChannelEvent { inputsClosed += 1 }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { self.error = error as? TLSError }

        func write(_ text: String) -> EventLoopFuture<Void> { channel.writeAndFlush(ByteBuffer(string: text)) }

        func take() throws -> [UInt8] {
            var bytes: [UInt8] = []
            while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
            return bytes
        }

        func receive(_ bytes: some Collection<UInt8>) {
            guard channel.isActive else { return }
            channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
            channel.pipeline.fireChannelReadComplete()
        }
    }

    /// A socket can close its output alone, an `EmbeddedChannel` cannot.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
        }
    }

    private final class Pair {
        let client: Side
        let server: Side

        init(
            _ identity: TestAuthority.Identity = TestAuthority.shared.local, peer: String? = "localhost",
            client: TLSContext? = nil
        ) throws {
            let client = try client ?? .client(.only([TestAuthority.shared.certificate]), protocols: ["h2"])
            self.client = try Side(TLSHandler(client, peer: peer))
            server = try Side(TLSHandler(identity.server()))
        }

        // A channel that is open and its handlers retain each other. Nobody waits for the peer's last word here.
        deinit {
            for side in [client, server] {
                side.channel.close(promise: nil)
                side.channel.embeddedEventLoop.advanceTime(by: .hours(1))
            }
        }

        /// Carries bytes in pieces of this length until nobody sends any.
        func carry(pieces: Int = .max) throws {
            var isQuiet = false
            while !isQuiet {
                isQuiet = true
                for (from, to) in [(client, server), (server, client)] {
                    var bytes = try from.take()[...]
                    while !bytes.isEmpty {
                        isQuiet = false
                        to.receive(bytes.prefix(pieces))
                        bytes = bytes.dropFirst(pieces)
                    }
                }
            }
        }
    }

    // MARK: What works

    @Test(arguments: [1, 7, 1_000, .max]) func `bytes arrive whole, in whatever pieces they come`(pieces: Int) throws {
        let pair = try Pair()
        // Before the handshake is done, a write waits.
        let first = pair.client.write("first ")
        try pair.carry(pieces: pieces)
        #expect(pair.client.negotiated == .some("h2"))
        #expect(pair.server.negotiated == .some("h2"))
        let long = String(repeating: "long ", count: 40_000)
        pair.client.channel.write(ByteBuffer(string: "a"), promise: nil)
        pair.client.channel.write(ByteBuffer(string: "b "), promise: nil)
        let second = pair.client.write(long)
        let answer = pair.server.write("answer")
        try pair.carry(pieces: pieces)
        #expect(pair.server.text == "first ab " + long)
        #expect(pair.client.text == "answer")
        for write in [first, second, answer] { try write.wait() }
    }

    @Test func `another library's error on this thread is not taken for an error of TLS`() throws {
        let pair = try Pair()
        for _ in 0..<20 {
            var bytes: UnsafePointer<UInt8>?
            [UInt8]([1, 2, 3]).withUnsafeBufferPointer { buffer in
                bytes = buffer.baseAddress
                _ = d2i_X509(nil, &bytes, 3)
            }
            #expect(ERR_peek_error() != 0)
            _ = pair.client.write("x")
            let (out, back) = (try pair.client.take(), try pair.server.take())
            pair.server.receive(out)
            pair.client.receive(back)
        }
        #expect(pair.server.text == String(repeating: "x", count: 20))
        #expect(pair.client.error == nil && pair.server.error == nil)
    }

    // MARK: Who the peer is

    @Test func `a certificate is refused for each reason, and the server learns it`() throws {
        let authority = TestAuthority.shared
        let cases: [(TestAuthority.Identity, String?, TLSContext.Roots, TLSError)] = [
            (authority.elsewhere, "localhost", .only([authority.certificate]), .wrongName),
            (authority.local, "127.0.0.2", .only([authority.certificate]), .wrongName),
            (authority.expired, "localhost", .only([authority.certificate]), .untrusted("certificate has expired")),
            (authority.local, "localhost", .only([]), .untrusted("unable to get local issuer certificate")),
            (authority.local, "localhost", .system, .untrusted("unable to get local issuer certificate")),
        ]
        for (identity, peer, roots, error) in cases {
            let pair = try Pair(identity, peer: peer, client: .client(roots, protocols: ["h2"]))
            try pair.carry()
            #expect(pair.client.error == error)
            #expect(pair.client.negotiated == nil)
            #expect(!pair.client.channel.isActive && !pair.server.channel.isActive)
            #expect(pair.server.error != nil)
        }
        let unchecked = try Pair(authority.expired, peer: nil, client: .client(.unchecked))
        try unchecked.carry()
        #expect(unchecked.client.negotiated != nil)
    }

    @Test func `a key of another certificate is refused`() throws {
        let authority = TestAuthority.shared
        #expect(throws: TLSError.self) {
            try TLSContext.server(chain: [authority.local.certificate], key: authority.elsewhere.privateKey)
        }
        #expect(throws: TLSError.self) { try TLSContext.server(chain: [], key: authority.local.privateKey) }
    }

    // MARK: Hostile peers

    @Test func `a version before 1.2 is refused`() throws {
        let old = try TLSContext.client(.unchecked)
        SSL_CTX_set_security_level(old.pointer, 0)
        SSL_CTX_ctrl(old.pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
        SSL_CTX_ctrl(old.pointer, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_1_VERSION), nil)
        let pair = try Pair(client: old)
        try pair.carry()
        #expect(pair.client.error == .oldVersion && pair.server.error == .oldVersion)
    }

    @Test func `plain text is not TLS, for both sides`() throws {
        let pair = try Pair()
        pair.server.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        pair.client.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(pair.client.error == .notTLS && pair.server.error == .notTLS)
        #expect(!pair.client.channel.isActive && !pair.server.channel.isActive)
    }

    @Test func `a changed record ends the connection on both sides, and nothing of it is delivered`() throws {
        let pair = try Pair()
        try pair.carry()
        _ = pair.client.write("secret")
        var bytes = try pair.client.take()
        bytes[bytes.count - 1] ^= 1
        pair.server.receive(bytes)
        #expect(pair.server.text == "")
        #expect(pair.server.error != nil && !pair.server.channel.isActive)
        try pair.carry()
        #expect(pair.client.error != nil && !pair.client.channel.isActive)
    }

    @Test func `a client cannot begin a second handshake`() throws {
        let old = try TLSContext.client(.unchecked)
        SSL_CTX_ctrl(old.pointer, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_clear_options(old.pointer, 1 << 30)
        let pair = try Pair(client: old)
        try pair.carry()
        #expect(pair.server.negotiated != nil)
        var finished = [UInt8](repeating: 0, count: 64)
        let count = SSL_get_finished(pair.server.tls.ssl, &finished, 64)
        SSL_renegotiate(pair.client.tls.ssl)
        SSL_do_handshake(pair.client.tls.ssl)
        _ = pair.client.write("x")
        try pair.carry()
        var now = [UInt8](repeating: 0, count: 64)
        #expect(SSL_get_finished(pair.server.tls.ssl, &now, 64) == count && now == finished)
    }

    /// Knuth's linear congruential generator: the same bytes for the same seed.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // The low bits of `state` repeat soon.
            return state ^ (state >> 32)
        }
    }

    @Test(arguments: 0..<100) func `whatever bytes come, the connection waits or ends`(seed: UInt64) throws {
        var random = Dice(state: seed)
        let pair = try Pair()
        for _ in 0..<12 {
            for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
                var bytes = try from.take()
                if from.negotiated != nil { _ = from.write("text") }
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where !bytes.isEmpty: bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 0x40
                case 1: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
                case 2: bytes += (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }
                default: break
                }
                to.receive(bytes)
            }
        }
        for side in [pair.client, pair.server] {
            #expect(side.text.allSatisfy { "text".contains($0) })
            #expect(side.error == nil || !side.channel.isActive)
        }
    }

    // MARK: The end

    @Test func `a close waits for the peer's, and neither side sees an error`() throws {
        let pair = try Pair()
        try pair.carry()
        _ = pair.client.channel.write(ByteBuffer(string: "last"))
        let closed = pair.client.channel.close()
        #expect(pair.client.channel.isActive)
        try pair.carry()
        #expect(pair.server.text == "last")
        #expect(!pair.client.channel.isActive && !pair.server.channel.isActive)
        #expect(pair.client.error == nil && pair.server.error == nil)
        try closed.wait()
    }

    @Test func `a peer that does not answer a close delays it for a second`() throws {
        let pair = try Pair()
        try pair.carry()
        let closed = pair.client.channel.close()
        pair.client.channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
        #expect(pair.client.channel.isActive)
        pair.client.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!pair.client.channel.isActive)
        try closed.wait()
        #expect(throws: (any Error).self) { try pair.client.write("late").wait() }
    }

    @Test(arguments: [0, 10]) func `an end of the connection without close_notify is an error`(bytesLost: Int) throws {
        let pair = try Pair()
        try pair.carry()
        _ = pair.client.write("half a record")
        if bytesLost > 0 { pair.server.receive(try pair.client.take().dropLast(bytesLost)) }
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.error == .cut)
        #expect(pair.server.text == "" && !pair.server.channel.isActive)
        pair.client.channel.close(mode: .input, promise: nil)
        pair.client.channel.pipeline.fireChannelInactive()
        #expect(pair.client.error == .cut)
    }

    @Test func `a peer that has only closed its side still gets the answer`() throws {
        let pair = try Pair()
        try pair.server.channel.setOption(.allowRemoteHalfClosure, value: true).wait()
        try pair.carry()
        _ = pair.client.write("question")
        pair.client.channel.close(mode: .output, promise: nil)
        try pair.carry()
        #expect(pair.server.text == "question" && pair.server.inputsClosed == 1 && pair.server.channel.isActive)
        // The end of TCP after close_notify is no news.
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        _ = pair.server.write("answer")
        pair.server.channel.close(promise: nil)
        try pair.carry()
        #expect(pair.client.text == "answer")
        #expect(pair.server.inputsClosed == 1 && pair.server.error == nil)
        #expect(!pair.server.channel.isActive)
    }
}
