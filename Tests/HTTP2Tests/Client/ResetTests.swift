import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct ResetTests {
    @Test func `every tenth request is refused and repeated on the same connection`() async throws {
        let arrivals = Ledger()
        let answered = Ledger()
        let handler = TestHandler(answering: { request, stream in
            if arrivals.add("all").isMultiple(of: 10) {
                stream.reset(code: HTTP2ErrorCode.refusedStream.rawValue)
            } else {
                answered.add(request.path)
                stream.respond(status: 200, headers: [], body: [])
            }
            return true
        })
        try await withServer(handler) { server in
            let caller = RetryingCaller(configuration(server.port))
            try await flood(3_000, concurrency: 100) { request in
                let response = try await caller.send(request)
                #expect(response.status == 200)
            }
            #expect(answered.all.count == 3_000)
            #expect(answered.all.values.allSatisfy { $0 == 1 })
            #expect(await caller.connections == 1)
            #expect(await caller.retries == arrivals.all["all", default: 0] / 10)
            await caller.close()
        }
    }

    @Test(arguments: [HTTP2ErrorCode.internalError, .cancel, .noError, .enhanceYourCalm])
    func `a request that is reset with another code than REFUSED_STREAM is unanswered`(code: HTTP2ErrorCode)
        async throws
    {
        let handler = TestHandler(answering: { _, stream in
            stream.reset(code: code.rawValue)
            return true
        })
        try await withServer(handler) { server in
            try await withConnection(server.port) { connection in
                let outcome = await connection.outcome(post())
                #expect(outcome.isUnanswered, "\(outcome)")
                #expect("\(outcome)".contains(HTTP2ErrorCode.name(code.rawValue)))
                #expect(connection.state.isUsable)
            }
        }
    }

    @Test func `an answer before the end of the request counts and frees the stream`() async throws {
        // The server answers 413 after HEADERS, while the body waits for a WINDOW_UPDATE that never comes.
        let status413: [UInt8] = [0x08, 3] + Array("413".utf8)
        let server = try await RawServer.start(
            bytes: Frame.settings, answer: Frame.make(type: 1, flags: 0x5, stream: 1, status413))
        try await withConnection(server.port) { connection in
            let outcome = await connection.outcome(post(body: [UInt8](repeating: 0, count: 200_000)))
            #expect(outcome.status == 413, "\(outcome)")
            #expect(connection.state.isUsable)
        }
        await server.stop()
    }
}
