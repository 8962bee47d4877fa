import Testing

@testable import HTTP2

/// Peers that keep the connection open and do nothing. Requests end at their deadlines and free what they used.
@Suite(.timeLimit(.minutes(20))) struct StallTests {
    /// SETTINGS_INITIAL_WINDOW_SIZE 0, so bodies can never be sent.
    private static let noWindow = Frame.make(type: 4, [0, 4, 0, 0, 0, 0])

    @Test func `a window that never opens costs only the request's time`() async throws {
        try await RawServer.with(bytes: Self.noWindow, client: { $0.maximumConcurrentStreams = 5 }) { connection in
            // If the streams were not freed, the requests of the next round would fail with `notProcessed`.
            for _ in 0..<4 {
                let outcomes = await connection.outcomes(5) { _ in .milliseconds(300) }
                #expect(outcomes.allSatisfy { $0.isUnanswered }, "\(outcomes)")
            }
            #expect(connection.state.isUsable)
        }
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
}
