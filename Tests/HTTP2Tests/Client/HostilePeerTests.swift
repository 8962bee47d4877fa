import Testing

@testable import HTTP2

/// Peers that violate the protocol, or use it to exhaust memory. The result must be a clean error.
@Suite(.timeLimit(.minutes(20))) struct HostilePeerTests {
    @Test func `an answer with a huge header is refused, and the connection stays open`() async throws {
        let handler = TestHandler.answering { request, stream in
            let size = request.path == "/huge" ? 50 : 1
            let headers = (0..<size).map { HTTP2Header("x-\($0)", String(repeating: "y", count: 1_000)) }
            stream.respond(status: 200, headers: headers, body: [])
        }
        try await withClient(handler, client: { $0.maximumHeaderList = 16 << 10 }) { connection in
            let outcome = await connection.outcome(post("/huge"))
            #expect(outcome == .failure(.unanswered("the answer's header is larger than 16384 bytes")))
            let next = await connection.outcome(post("/small"))
            #expect(next.status == 200, "HPACK's state survived")
            #expect((try? next.get())?[header: "x-0"]?.count == 1_000)
        }
    }

    @Test func `an answer with a huge body is refused, and the connection stays open`() async throws {
        let handler = TestHandler.answering { request, stream in
            stream.respond(
                status: 200, headers: [], body: [UInt8](repeating: 1, count: request.path == "/huge" ? 300_000 : 5))
        }
        try await withClient(handler, client: { $0.maximumResponseBody = 100_000 }) { connection in
            let outcome = await connection.outcome(post("/huge"))
            #expect(outcome == .failure(.unanswered("the answer's body is larger than 100000 bytes")))
            #expect(await connection.outcome(post()).status == 200)
        }
    }

    @Test func `the bytes of all answers together are limited`() async throws {
        let handler = TestHandler.answering { _, stream in
            stream.respond(status: 200, headers: [], body: [UInt8](repeating: 1, count: 300_000))
        }
        try await withClient(handler, client: { $0.maximumBufferedBytes = 400_000 }) { connection in
            let outcomes = await connection.outcomes(20)
            #expect(outcomes.count { "\($0)".contains("together") } > 0)
            #expect(await connection.outcome(post()).status == 200, "what was refused is not counted any more")
        }
    }

    @Test func `a request with a header that is too large is not processed`() async throws {
        try await withClient(.echo) { connection in
            let huge = HTTP2Header("x-huge", String(repeating: "y", count: 100_000))
            let outcome = await connection.outcome(post(headers: [huge]))
            #expect(outcome.isNotProcessed, "\(outcome)")
            #expect(await connection.outcome(post()).status == 200)
        }
    }

    /// A value of 4,000 bytes in HPACK's dynamic table, followed by 30,000 references of one byte each: 120 MB if
    /// stored.
    @Test func `an HPACK bomb does not exhaust memory`() async throws {
        let literal: [UInt8] = [0x40, 1, 0x61, 0x7f, 0xa1, 0x1e] + [UInt8](repeating: 0x62, count: 4_000)
        var answer = Frame.make(type: 1, flags: 0x0, stream: 1, Frame.status200 + literal)
        answer += Frame.make(type: 9, flags: 0x0, stream: 1, [UInt8](repeating: 0xbe, count: 15_000))
        answer += Frame.make(type: 9, flags: 0x4, stream: 1, [UInt8](repeating: 0xbe, count: 15_000))
        try await RawServer.with(bytes: Frame.settings, answer: answer) { connection in
            let outcome = await connection.outcome(post())
            #expect(outcome.isUnanswered)
            #expect("\(outcome)".contains("header is larger than 65536 bytes"), "\(outcome)")
        }
    }

    enum Flood: CaseIterable {
        case continuations
        case emptySettings
        case garbage
        case pushPromise
        case dataBeyondTheWindow

        var bytes: [UInt8] {
            switch self {
            case .continuations:
                Frame.make(type: 1, stream: 1, Frame.status200)
                    + (0..<20_000).flatMap { _ in Frame.make(type: 9, stream: 1, [0x0f, 0x00, 0, 0]) }
            case .emptySettings:
                (0..<20_000).flatMap { _ in Frame.settings } + Frame.make(type: 8, [0, 0, 0, 0])
            case .garbage:
                (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 0x80) }
            case .pushPromise:
                Frame.make(type: 5, flags: 0x4, stream: 1, [0, 0, 0, 2] + [0x82, 0x87, 0x84])
            case .dataBeyondTheWindow:
                Frame.make(type: 1, flags: 0x4, stream: 1, Frame.status200)
                    + (0..<2_000).flatMap { _ in
                        Frame.make(type: 0, flags: 0x8, stream: 1, [255] + [UInt8](repeating: 0, count: 16_383))
                    }
            }
        }
    }

    @Test(arguments: Flood.allCases)
    func `floods and invalid frames end cleanly`(flood: Flood) async throws {
        try await RawServer.with(bytes: Frame.settings + Frame.settingsAck, answer: flood.bytes) { connection in
            let outcome = await connection.outcome(post())
            #expect(outcome.isUnanswered, "\(outcome)")
            if flood != .dataBeyondTheWindow {
                let reason = await connection.closed()
                #expect(reason.contains("broke the protocol"), "\(reason)")
            }
        }
    }
}
