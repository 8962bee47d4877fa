import CNghttp2
import NIOCore
import NIOEmbedded
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
        try await withClient(configure: { $0.maximumBodyKept = 1_000 }) { connection, handler in
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
        #expect(throws: Session.SubmitError.self) { try pairs([HTTP2Header(name, value)]) }
    }
}
