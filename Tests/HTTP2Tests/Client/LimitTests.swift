import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct LimitTests {
    private func answer(_ exchanges: [TestHandler.Exchange]) {
        for exchange in exchanges { exchange.stream.respond(status: 200, headers: [], body: []) }
    }

    private func callers(_ count: Int, _ connection: HTTP2ClientConnection) -> Task<Int, Never> {
        Task { await connection.outcomes(count).count { $0.status == 200 } }
    }

    @Test func `there is one stream until the caller says that the peer accepted a request`() async throws {
        try await withClient(client: { $0.initialConcurrency = 1 }) { connection, handler in
            #expect(connection.state.streamLimit == 1)
            let answers = callers(50, connection)
            answer(try await handler.take(1))
            let second = try await handler.take(1)
            #expect(connection.state.streamsInUse == 1)
            connection.streamsProven()
            let others = try await handler.take(48)
            answer(second + others)
            #expect(await answers.value == 50)
        }
    }

    /// APNs sets such limits: one stream after a refused token, and many again after the next success.
    @Test func `limits of a thousand, one and a thousand streams are respected in turn`() async throws {
        try await withClient { connection, handler in
            let early = callers(300, connection)
            let held = try await handler.take(300)
            let peer = held[0].stream.connection
            peer.setMaximumConcurrentStreams(1)
            answer(held)
            #expect(await early.value == 300)
            #expect(connection.state.streamLimit == 1)
            let late = callers(300, connection)
            for _ in 0..<3 {
                let one = try await handler.take(1)
                #expect(connection.state.streamsInUse == 1)
                answer(one)
            }
            let last = try await handler.take(1)
            peer.setMaximumConcurrentStreams(1_000)
            answer(last)
            answer(try await handler.take(296))
            #expect(await late.value == 300)
            #expect(connection.state.isUsable)
        }
    }

    @Test func `when stream IDs are used up the connection drains`() async throws {
        try await withClient(client: { $0.firstStream = 0x7fff_fffd }) { connection, handler in
            async let first = connection.outcome(post())
            async let second = connection.outcome(post())
            let held = try await handler.take(2)
            #expect(held.map(\.stream.id) == [0x7fff_fffd, 0x7fff_ffff])
            let third = await connection.outcome(post())
            #expect(third.isNotProcessed, "\(third)")
            #expect(!connection.state.isUsable)
            answer(held)
            #expect(await first.status == 200)
            #expect(await second.status == 200)
            #expect(await connection.closed().contains("stream ids"))
        }
    }
}
