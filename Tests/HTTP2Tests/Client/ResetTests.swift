import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct ResetTests {
    @Test(arguments: [HTTP2ErrorCode.internalError, .cancel, .noError, .enhanceYourCalm])
    func `a request that is reset with another code than REFUSED_STREAM is unanswered`(code: HTTP2ErrorCode)
        async throws
    {
        let handler = TestHandler.answering { _, stream in
            stream.reset(code: code.rawValue)
        }
        try await withClient(handler) { connection in
            let outcome = await connection.outcome(post())
            #expect(outcome.isUnanswered, "\(outcome)")
            #expect("\(outcome)".contains(HTTP2ErrorCode.name(code.rawValue)))
            #expect(connection.state.isUsable)
        }
    }

    @Test func `an answer before the end of the request counts and frees the stream`() async throws {
        // The server answers 413 after HEADERS, while the body waits for a WINDOW_UPDATE that never comes.
        let status413: [UInt8] = [0x08, 3] + Array("413".utf8)
        try await RawServer.with(bytes: Frame.settings, answer: Frame.make(type: 1, flags: 0x5, stream: 1, status413)) {
            connection in
            let outcome = await connection.outcome(post(body: [UInt8](repeating: 0, count: 200_000)))
            #expect(outcome.status == 413, "\(outcome)")
            #expect(connection.state.isUsable)
        }
    }
}
