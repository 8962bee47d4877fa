import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct DeadlineTests {
    @Test func `a request without an answer is reset, and its stream is free`() async throws {
        try await withClient({ $0.initialMaximumConcurrentStreams = 1 }) { connection, handler in
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
        try await withClient({ $0.initialMaximumConcurrentStreams = 1 }) { connection, handler in
            async let first = connection.outcome(post("/first"))
            let held = try await handler.take(1)
            let waiting = await connection.outcome(post("/waiting"), timeout: .milliseconds(50))
            #expect(waiting == .failure(.notProcessed("no free stream within 50 ms")))
            #expect(connection.state.waiting == 0)
            held[0].stream.respond(status: 200, headers: [], body: [])
            #expect(await first.status == 200)
        }
    }

    @Test func `a thousand deadlines at once all end their requests`() async throws {
        try await withClient({ $0.initialMaximumConcurrentStreams = 100 }) { connection, _ in
            let outcomes = await connection.outcomes(1_000) { .milliseconds(200 + $0 % 7) }
            #expect(outcomes.count { $0.isUnanswered || $0.isNotProcessed } == 1_000)
            #expect(connection.state.waiting == 0)
        }
    }

    @Test func `cancelling resets the stream and frees it`() async throws {
        try await withClient({ $0.initialMaximumConcurrentStreams = 1 }) { connection, handler in
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

    @Test func `among many cancelled requests in the line the others keep their order`() async throws {
        try await withClient({ $0.initialMaximumConcurrentStreams = 1 }) { connection, handler in
            async let first = connection.outcome(post("/first"))
            let held = try await handler.take(1)
            var waiting: [Task<Result<HTTP2Response, HTTP2Failure>, Never>] = []
            for number in 0..<60 {
                waiting.append(Task { await connection.outcome(post("/\(number)")) })
                while connection.state.waiting <= number { await Task.yield() }
            }
            for (number, task) in waiting.enumerated() where !number.isMultiple(of: 20) {
                task.cancel()
                #expect(await task.value == .failure(.cancelled))
            }
            #expect(connection.state.waiting == 3)
            held[0].stream.respond(status: 200, headers: [], body: [])
            for path in ["/0", "/20", "/40"] {
                let next = try await handler.take(1)
                #expect(next[0].request.path == path)
                next[0].stream.respond(status: 200, headers: [], body: [])
            }
            #expect(await first.status == 200)
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
        let handler = TestHandler()
        try await withServer(handler) { server in
            var settings = configuration(server.port)
            settings.drainTimeout = .seconds(2)
            let connection = try await HTTP2ClientConnection.connect(settings, logger: quiet)
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
