import CNghttp2
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct ServerTests {
    @Test func `the error of a port in use is one clear line`() async throws {
        try await withServer(.echo) { server in
            let error = await #expect(throws: (any Error).self) {
                try await withServer(.echo, { $0.port = server.port }) { _ in }
            }
            let words = "is in use: stop what listens there, or choose another port"
            #expect(error.map { "\($0)" } == "127.0.0.1:\(server.port) \(words)")
        }
    }

    @Test func `a body over the limit is cut and marked`() async throws {
        try await withClient(configure: { $0.maximumRequestBody = 1_000 }) { connection, handler in
            for (size, isTooLarge) in [(1_000, false), (1_001, true), (70_000, true)] {
                async let answer = connection.outcome(post(body: [UInt8](repeating: 7, count: size)))
                let exchange = try await handler.take(1)[0]
                #expect(exchange.request.body.count == 1_000)
                #expect(exchange.bodyIsCut == isTooLarge)
                exchange.stream.respond(status: 413, headers: [], body: [])
                #expect(await answer.status == 413)
            }
        }
    }

    @Test func `a body beyond what is read, or a header over the limit, resets only the stream`() async throws {
        let limits: (inout HTTP2ServerConfiguration) -> Void = {
            ($0.maximumBodyRead, $0.maximumHeaderList) = (100_000, 2_000)
        }
        try await withClient(.echo, configure: limits) { connection, _ in
            let large = HTTP2Header("x-large", String(repeating: "y", count: 2_000))
            for request in [post(body: [UInt8](repeating: 7, count: 300_000)), post(headers: [large])] {
                #expect(await connection.outcome(request).isUnanswered)
                #expect(await connection.outcome(post()).status == 200)
            }
        }
    }

    @Test func `only the first call on a stream has an effect`() async throws {
        let handler = TestHandler.answering { _, stream in
            stream.respond(status: 201, headers: [], body: [])
            stream.respond(status: 500, headers: [], body: [])
            stream.reset(code: HTTP2ErrorCode.cancel.rawValue)
        }
        try await withClient(handler) { connection, _ in
            for _ in 0..<20 { #expect(await connection.outcome(post()).status == 201) }
        }
    }

    @Test func `a connection has an ID and an end`() async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            for _ in 0..<2 { try await withConnection(server.port) { _ in } }
            let opened = await handler.openings.prefix(2).reduce(into: [Int]()) { $0.append($1) }
            let ended = await handler.closures.prefix(2).reduce(into: [Int]()) { $0.append($1) }
            #expect(Set(opened).count == 2 && Set(opened) == Set(ended))
        }
    }

    @Test func `stopping sends outstanding answers and cuts the rest`() async throws {
        let handler = TestHandler()
        try await withServer(handler, { $0.drainTimeout = .seconds(2) }) { server in
            let connection = try await HTTP2ClientConnection.connect(configuration(server.port), logger: quiet)
            async let owed = connection.outcome(post("/owed"))
            async let silent = connection.outcome(post("/silent"))
            let held = try await handler.take(2)
            async let stopping: Void = server.stop()
            for exchange in held where exchange.request.path == "/owed" {
                exchange.stream.respond(status: 200, headers: [], body: [1])
            }
            #expect(await owed.status == 200)
            #expect(await silent.isUnanswered)
            await stopping
            _ = await connection.closed()
            #expect(connection.state.goAway != nil)
        }
    }
}

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

struct SubmitTests {
    private func pairs(_ headers: [HTTP2Header]) throws -> [(String, String, UInt8)] {
        let loop = EmbeddedEventLoop()
        let session = try Session(.client, on: loop)
        var block: [(String, String, UInt8)] = []
        _ = try session.submit(pseudo: [HTTP2Header(":path", "/x")], headers, hasBody: false) { pairs, count, _ in
            block = UnsafeBufferPointer(start: pairs, count: count).map { pair in
                (
                    String(decoding: UnsafeBufferPointer(start: pair.name, count: pair.namelen), as: UTF8.self),
                    String(decoding: UnsafeBufferPointer(start: pair.value, count: pair.valuelen), as: UTF8.self),
                    pair.flags
                )
            }
            return 0
        }
        return block
    }

    @Test func `fields keep their order and their indexing`() throws {
        let block = try pairs([
            HTTP2Header("authorization", "bearer x", indexing: .never), HTTP2Header("a", ""), HTTP2Header("b", "2"),
        ])
        #expect(block.map(\.0) == [":path", "authorization", "a", "b"])
        #expect(block.map(\.1) == ["/x", "bearer x", "", "2"])
        let noIndex = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
        #expect(block.map { $0.2 & noIndex } == [0, noIndex, 0, 0])
    }

    @Test(
        arguments: ["", "Upper", ":status", "with space", "new\nline", "nul\0"].map { ($0, "x") }
            + ["a\r\nb", "nul\0", "bell\u{7}"].map { ("x", $0) })
    func `names and values that HTTP forbids are refused`(name: String, value: String) {
        #expect(throws: Session.Unsendable.self) { try pairs([HTTP2Header(name, value)]) }
    }
}
