import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct SilenceTests {
    @Test func `a PING is sent for an overdue answer, and silence ends the connection`() async throws {
        let impatient: (inout HTTP2ClientConfiguration) -> Void = {
            $0.overdueInterval = .milliseconds(50)
            $0.pingTimeout = .milliseconds(50)
            $0.maximumConcurrentStreams = 1
        }
        try await RawServer.with(bytes: Frame.settings, client: impatient) { connection in
            async let written = connection.outcome(post())
            async let waiting = connection.outcome(post())
            let outcomes = [await written, await waiting]
            #expect(outcomes.count { $0.isUnanswered } == 1, "the one on the wire")
            #expect(outcomes.count { $0.isNotProcessed } == 1, "the one in line")
            #expect(await connection.closed().contains("PING"))
            #expect(!connection.state.isUsable)
            #expect(connection.state.fellSilent)
        }
    }

    @Test func `a PING is sent on an idle connection, too`() async throws {
        let impatient: (inout HTTP2ClientConfiguration) -> Void = {
            $0.pingInterval = .milliseconds(50)
            $0.pingTimeout = .milliseconds(50)
        }
        try await RawServer.with(bytes: Frame.settings, client: impatient) { connection in
            #expect(await connection.closed().contains("PING"))
            // On an idle connection, a missing answer to PING says nothing about the peer: a router may have dropped
            // the connection.
            #expect(!connection.state.fellSilent)
        }
    }

    @Test func `the client waits for a slow answer if the peer answers PINGs`() async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            let curious: (inout HTTP2ClientConfiguration) -> Void = {
                $0.overdueInterval = .milliseconds(10)
                $0.pingTimeout = .seconds(5)
            }
            try await withConnection(server.port, curious) { connection in
                // The timeout is long enough for about twenty PINGs.
                #expect(await connection.outcome(post(), timeout: .milliseconds(250)).isUnanswered)
                #expect(connection.state.isUsable)
            }
        }
    }

    @Test func `when the peer is killed every caller gets an error`() async throws {
        let handler = TestHandler()
        try await withServer(handler, { $0.initialMaximumConcurrentStreams = 50 }) { server in
            try await withConnection(server.port) { connection in
                async let outcomes = connection.outcomes(70)
                let held = try await handler.take(50)
                held[0].stream.connection.close()
                let all = await outcomes
                #expect(all.count { $0.isUnanswered } == 50)
                #expect(all.count { $0.isNotProcessed } == 20)
                #expect(await connection.closed().contains("cut"))
            }
            // The server still serves the next connection.
            try await withConnection(server.port) { connection in
                async let answer = connection.outcome(post())
                let next = try await handler.take(1)
                next[0].stream.respond(status: 200, headers: [], body: [])
                #expect(await answer.status == 200)
            }
        }
    }

    @Test func `a wait for the end of a connection can be cancelled`() async throws {
        try await withClient(.echo) { connection in
            let waiter = Task { await connection.closed() }
            waiter.cancel()
            #expect(await waiter.value == "no longer waiting")
            #expect(connection.state.isUsable)
        }
    }
}
