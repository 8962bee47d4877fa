import Testing

@testable import HTTP2

/// Peers that violate the protocol, or use it to exhaust memory. The result must be a clean error.
@Suite(.timeLimit(.minutes(20))) struct HostilePeerTests {
    @Test(arguments: [("header", 16_384), ("body", 100_000)])
    func `a huge header or body of an answer is refused, and the connection stays open`(part: String, limit: Int)
        async throws
    {
        let handler = TestHandler.answering { request, stream in
            let isHuge = request.path == "/huge"
            let headers = (0..<(isHuge && part == "header" ? 50 : 1)).map { "x-\($0)" }
            stream.respond(
                status: 200, headers: headers.map { HTTP2Header($0, String(repeating: "y", count: 1_000)) },
                body: [UInt8](repeating: 1, count: isHuge && part == "body" ? 300_000 : 5))
        }
        let limits: (inout HTTP2ClientConfiguration) -> Void = {
            ($0.maximumHeaderListSize, $0.maximumResponseBody) = (16 << 10, 100_000)
        }
        try await withClient(handler, client: limits) { connection, _ in
            let outcome = await connection.outcome(post("/huge"))
            #expect(outcome == .failure(.unanswered("the answer's \(part) is larger than \(limit) bytes")))
            let next = await connection.outcome(post())
            #expect((try? next.get())?[header: "x-0"]?.count == 1_000, "HPACK's state survived")
        }
    }

    @Test func `the bytes of all answers together are limited`() async throws {
        let handler = TestHandler.answering { _, stream in
            stream.respond(status: 200, headers: [], body: [UInt8](repeating: 1, count: 300_000))
        }
        try await withClient(handler, client: { $0.maximumBufferedBytes = 400_000 }) { connection, _ in
            let outcomes = await connection.outcomes(20)
            #expect(outcomes.count { "\($0)".contains("together") } > 0)
            #expect(await connection.outcome(post()).status == 200, "what was refused is not counted any more")
        }
    }

    @Test func `a request with a header that is too large is not processed`() async throws {
        try await withClient(.echo) { connection, _ in
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
                let reason = await connection.untilClosed()
                #expect(reason.contains("broke the protocol"), "\(reason)")
            }
        }
    }
}

@Suite(.timeLimit(.minutes(20))) struct DeadlineTests {
    @Test func `a request without an answer is reset, and its stream is free`() async throws {
        try await withClient(configure: { $0.initialMaximumConcurrentStreams = 1 }) { connection, handler in
            async let silent = connection.outcome(post("/silent"), timeout: .seconds(2))
            let held = try await handler.take(1)
            async let last = connection.outcome(post("/last"))
            #expect(await silent == .failure(.unanswered("no answer within 2 s")))
            // This request can only be sent on the freed stream.
            let next = try await handler.take(1)
            #expect(next[0].request.path == "/last")
            next[0].stream.respond(status: 200, headers: [], body: [])
            #expect(await last.status == 200)
            // This answer comes too late, so it has no effect.
            held[0].stream.respond(status: 200, headers: [], body: [])
            #expect(connection.state.isUsable)
        }
    }

    @Test func `the deadline also counts while a request waits for a stream`() async throws {
        try await withClient(configure: { $0.initialMaximumConcurrentStreams = 1 }) { connection, handler in
            async let first = connection.outcome(post("/first"))
            let held = try await handler.take(1)
            let waiting = await connection.outcome(post("/waiting"), timeout: .milliseconds(50))
            #expect(waiting == .failure(.notProcessed("no free stream within 50 ms")))
            #expect(connection.state.waitCount == 0)
            held[0].stream.respond(status: 200, headers: [], body: [])
            #expect(await first.status == 200)
        }
    }

    @Test func `cancelling resets the stream and frees it`() async throws {
        try await withClient(configure: { $0.initialMaximumConcurrentStreams = 1 }) { connection, handler in
            let inFlight = Task { await connection.outcome(post("/in-flight")) }
            _ = try await handler.take(1)
            let inLine = Task { await connection.outcome(post("/in-line")) }
            inLine.cancel()
            #expect(await inLine.value == .failure(.cancelled))
            async let next = connection.outcome(post("/next"))
            inFlight.cancel()
            #expect(await inFlight.value == .failure(.cancelled))
            let held = try await handler.take(1)
            #expect(held[0].request.path == "/next")
            held[0].stream.respond(status: 200, headers: [], body: [])
            #expect(await next.status == 200)
            #expect(connection.state.isUsable)
        }
    }

    @Test func `a cancelled task sends nothing`() async throws {
        try await withClient { connection, handler in
            let outcome = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await connection.outcome(post("/cancelled"))
            }.value
            #expect(outcome == .failure(.cancelled))
            async let answer = connection.outcome(post("/next"))
            let held = try await handler.take(1)
            #expect(held[0].request.path == "/next")
            #expect(held[0].stream.id == 1)
            held[0].stream.respond(status: 200, headers: [], body: [])
            #expect(await answer.status == 200)
        }
    }

    @Test func `closing waits for answers, but not forever`() async throws {
        try await withClient(client: { $0.drainTimeout = .seconds(2) }) { connection, handler in
            async let answered = connection.outcome(post("/answered"))
            async let silent = connection.outcome(post("/silent"))
            let held = try await handler.take(2)
            async let closing: Void = connection.close()
            for exchange in held where exchange.request.path == "/answered" {
                exchange.stream.respond(status: 200, headers: [], body: [])
            }
            #expect(await answered.status == 200)
            #expect(await silent.isUnanswered)
            await closing
            #expect(await connection.outcome(post()).isNotProcessed)
        }
    }
}
