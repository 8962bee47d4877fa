import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct GoAwayTests {
    @Test func `streams up to the last are still answered, and new requests are given back`() async throws {
        let handler = TestHandler(answering: { _, stream in
            stream.connection.goAway(code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
            return false
        })
        try await withClient(handler) { connection in
            async let first = connection.outcome(post("/first"))
            let held = try await handler.take(1)[0]
            // Either the client has already received GOAWAY, or it sends this request with a stream ID above the
            // last stream ID of GOAWAY.
            let late = await connection.outcome(post("/late"))
            #expect(late.isNotProcessed, "\(late)")
            #expect(!connection.state.isUsable)
            #expect(connection.state.goAway?.code == 0)
            #expect(connection.state.goAway?.debugData == Array(#"{"reason":"Shutdown"}"#.utf8))
            held.stream.respond(status: 200, headers: [], body: [])
            #expect(await first.status == 200)
            #expect(await connection.closed().contains("Shutdown"))
            #expect(await connection.outcome(post()).isNotProcessed)
        }
    }

    @Test func `streams above the last were not processed`() async throws {
        try await withClient { connection, handler in
            async let outcomes = connection.outcomes(40)
            let held = try await handler.take(40)
            let last = held[19].stream.id
            held[0].stream.connection.goAway(code: 0, debugData: [], lastStream: last)
            for exchange in held where exchange.stream.id <= last {
                exchange.stream.respond(status: 200, headers: [], body: [])
            }
            let all = await outcomes
            #expect(all.count { $0.status == 200 } == 20)
            #expect(all.count { $0.isNotProcessed } == 20)
            _ = await connection.closed()
        }
    }

    @Test func `a protocol error is named in the reason`() async throws {
        // WINDOW_UPDATE of 0 on the connection (RFC 9113 6.9).
        try await RawServer.with(bytes: Frame.settings, answer: Frame.make(type: 8, [0, 0, 0, 0])) { connection in
            #expect(await connection.outcome(post()).isUnanswered)
            #expect(await connection.closed().contains("PROTOCOL_ERROR"))
        }
    }
}
