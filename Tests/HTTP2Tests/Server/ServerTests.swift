import CNghttp2
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct ServerTests {
    private func startFailure(_ change: (inout HTTP2ServerConfiguration) -> Void) async -> String? {
        do {
            var settings = HTTP2ServerConfiguration(
                host: "127.0.0.1", port: 0, tls: try TestAuthority.shared.local.server())
            change(&settings)
            let server = try await HTTP2Server.start(settings, handler: TestHandler.echo, logger: quiet)
            await server.stop()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `the error of a port in use is one clear line`() async throws {
        try await withServer(.echo) { server in
            let text = try #require(await startFailure { $0.port = server.port })
            #expect(text == "127.0.0.1:\(server.port) is in use: stop what listens there, or choose another port")
        }
    }

    @Test func `a body over the limit is cut and marked`() async throws {
        try await withClient({ $0.maximumRequestBody = 1_000 }) { connection, handler in
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

    @Test func `a body beyond what is read resets only the stream`() async throws {
        try await withClient(.echo, { $0.maximumBodyRead = 100_000 }) { connection in
            #expect(await connection.outcome(post(body: [UInt8](repeating: 7, count: 300_000))).isUnanswered)
            #expect(await connection.outcome(post()).status == 200)
        }
    }

    @Test func `a header over the limit resets only the stream`() async throws {
        try await withClient(.echo, { $0.maximumHeaderList = 2_000 }) { connection in
            let large = HTTP2Header("x-large", String(repeating: "y", count: 2_000))
            #expect(await connection.outcome(post(headers: [large])).isUnanswered)
            #expect(await connection.outcome(post()).status == 200)
        }
    }

    @Test func `only the first call on a stream has an effect`() async throws {
        let handler = TestHandler.answering { _, stream in
            stream.respond(status: 201, headers: [], body: [])
            stream.respond(status: 500, headers: [], body: [])
            stream.reset(code: HTTP2ErrorCode.cancel.rawValue)
        }
        try await withClient(handler) { connection in
            for _ in 0..<20 { #expect(await connection.outcome(post()).status == 201) }
        }
    }

    @Test func `an answer with a forbidden byte is reset`() async throws {
        let handler = TestHandler.answering { _, stream in
            stream.respond(status: 200, headers: [HTTP2Header("x", "a\nb")], body: [])
        }
        try await withClient(handler) { connection in
            #expect(await connection.outcome(post()).isUnanswered)
            #expect(connection.state.isUsable)
        }
    }

    @Test func `a connection has an ID and an end`() async throws {
        let opened = AsyncStream<HTTP2ServerConnection>.makeStream()
        let handler = TestHandler(opened: { opened.continuation.yield($0) })
        try await withServer(handler) { server in
            var seen: [HTTP2ServerConnection] = []
            for _ in 0..<2 {
                try await withConnection(server.port) { _ in
                    for await connection in opened.stream {
                        seen.append(connection)
                        break
                    }
                }
            }
            #expect(Set(seen.map(\.id)).count == 2)
            #expect(seen.allSatisfy { $0.remoteAddress.hasPrefix("127.0.0.1:") })
            var ended: Set<Int> = []
            for await id in handler.closures {
                ended.insert(id)
                if ended.count == 2 { break }
            }
            #expect(ended == Set(seen.map(\.id)))
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

    @Test func `a silent connection is closed`() async throws {
        try await withServer(.echo, { $0.idleTimeout = .milliseconds(500) }) { server in
            var reason: String
            do throws(HTTP2ConnectError) {
                let connection = try await HTTP2ClientConnection.connect(configuration(server.port), logger: quiet)
                reason = await connection.closed()
            } catch {
                // On a very busy machine the idle timeout may close the connection before `connect` has returned.
                reason = error.message
            }
            #expect(reason.contains("GOAWAY NO_ERROR"), "\(reason)")
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
