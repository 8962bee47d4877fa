import Testing

@testable import HTTP2

/// Peers that keep the connection open and do nothing. Requests end at their deadlines and free what they used.
@Suite(.timeLimit(.minutes(20))) struct StallTests {
    /// SETTINGS_INITIAL_WINDOW_SIZE 0, so bodies can never be sent.
    private static let noWindow = Frame.make(type: 4, [0, 4, 0, 0, 0, 0])

    @Test func `a window that never opens costs only the request's time`() async throws {
        let server = try await RawServer.start(bytes: Self.noWindow)
        try await withConnection(server.port, { $0.maximumConcurrentStreams = 5 }) { connection in
            // If the streams were not freed, the requests of the next round would fail with `notProcessed`.
            for _ in 0..<4 {
                let outcomes = await withTaskGroup(of: Result<HTTP2Response, HTTP2Failure>.self) { group in
                    for _ in 0..<5 { group.addTask { await connection.outcome(post(), timeout: .milliseconds(300)) } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.allSatisfy { $0.isUnanswered }, "\(outcomes)")
            }
            #expect(connection.state.isUsable)
        }
        await server.stop()
    }

    @Test func `slow answers end at the deadline`() async throws {
        // HEADERS without END_STREAM, and then nothing.
        let server = try await RawServer.start(
            bytes: Frame.settings, answer: Frame.make(type: 1, flags: 0x4, stream: 1, Frame.status200))
        try await withConnection(server.port, { $0.maximumConcurrentStreams = 1 }) { connection in
            for _ in 0..<2 {
                #expect(await connection.outcome(post(), timeout: .milliseconds(300)).isUnanswered)
            }
        }
        await server.stop()
    }

    @Test func `a peer that closes its side ends the connection`() async throws {
        let server = try await RawServer.start(bytes: Frame.settings, answer: Frame.ping, thenClose: true)
        // With `thenClose` the server also closes the connection after it has sent `bytes`, so the connection may end
        // before the request is sent.
        do throws(HTTP2ConnectError) {
            let connection = try await HTTP2ClientConnection.connect(configuration(server.port), logger: quiet)
            let outcome = await connection.outcome(post())
            #expect(outcome.isUnanswered || outcome.isNotProcessed)
            _ = await connection.closed()
            #expect(!connection.state.isUsable)
        } catch {
            #expect(error.kind == .settings)
        }
        await server.stop()
    }

    @Test func `thousands of resets leave nothing in memory`() async throws {
        let handler = TestHandler(answering: { _, stream in
            stream.reset(code: HTTP2ErrorCode.internalError.rawValue)
            return true
        })
        try await withServer(handler) { server in
            try await withConnection(server.port) { connection in
                let outcomes = Ledger()
                try await flood(5_000, concurrency: 200) { request in
                    let outcome = await connection.outcome(request)
                    outcomes.add(outcome.isUnanswered ? "unanswered" : "\(outcome)")
                }
                #expect(outcomes.all == ["unanswered": 5_000])
                #expect(connection.state.isUsable)
            }
        }
    }

    @Test func `the timing distinguishes queue and round trip`() async throws {
        let handler = TestHandler()
        let (timings, told) = AsyncStream<(queued: Duration, roundTrip: Duration)>.makeStream()
        try await withServer(handler, { $0.initialMaximumConcurrentStreams = 1 }) { server in
            try await withConnection(server.port, { $0.onAnswer = { told.yield(($0, $1)) } }) { connection in
                async let first = connection.outcome(post("/first"))
                let held = try await handler.take(1)
                async let second = connection.outcome(post("/second"))
                held[0].stream.respond(status: 200, headers: [], body: [])
                let next = try await handler.take(1)
                next[0].stream.respond(status: 200, headers: [], body: [])
                #expect(await first.status == 200)
                #expect(await second.status == 200)
                var seen: [(queued: Duration, roundTrip: Duration)] = []
                for await timing in timings {
                    seen.append(timing)
                    if seen.count == 2 { break }
                }
                #expect(seen.allSatisfy { $0.queued >= .zero && $0.roundTrip > .zero && $0.roundTrip < .seconds(60) })
            }
        }
    }
}
