import NIOCore
import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct SilenceTests {
    @Test func `a PING is sent for an overdue answer, and silence ends the connection`() async throws {
        let impatient: (inout HTTP2ClientConfiguration) -> Void = {
            $0.busyPingInterval = .milliseconds(50)
            $0.pingTimeout = .milliseconds(50)
            $0.maximumConcurrentStreams = 1
        }
        try await RawServer.with(bytes: Frame.settings, client: impatient) { connection in
            async let written = connection.outcome(post())
            async let waiting = connection.outcome(post())
            let outcomes = [await written, await waiting]
            #expect(outcomes.count { $0.isUnanswered } == 1, "the one on the wire")
            #expect(outcomes.count { $0.isNotProcessed } == 1, "the one in line")
            #expect(await connection.untilClosed().contains("PING"))
            #expect(!connection.state.isUsable)
            #expect(connection.state.fellSilent)
        }
    }

    @Test func `a PING is sent on an idle connection, too`() async throws {
        let impatient: (inout HTTP2ClientConfiguration) -> Void = {
            $0.idlePingInterval = .milliseconds(50)
            $0.pingTimeout = .milliseconds(50)
        }
        try await RawServer.with(bytes: Frame.settings, client: impatient) { connection in
            #expect(await connection.untilClosed().contains("PING"))
            // On an idle connection, a missing answer to PING says nothing about the peer: a router may have dropped
            // the connection.
            #expect(!connection.state.fellSilent)
        }
    }

    @Test func `the client waits for a slow answer if the peer answers PINGs`() async throws {
        let curious: (inout HTTP2ClientConfiguration) -> Void = {
            $0.busyPingInterval = .milliseconds(10)
            $0.pingTimeout = .seconds(120)
        }
        try await withClient(client: curious) { connection, _ in
            // The timeout is long enough for about twenty PINGs.
            #expect(await connection.outcome(post(), timeout: .milliseconds(250)).isUnanswered)
            #expect(connection.state.isUsable)
        }
    }

    @Test func `when the peer is killed every caller gets an error`() async throws {
        let handler = TestHandler()
        try await withServer(handler, { $0.initialMaximumConcurrentStreams = 50 }) { server in
            try await withConnection(server.port) { connection in
                async let outcomes = connection.outcomes(70)
                let held = try await handler.take(50)
                held[0].stream.connection.abort()
                let all = await outcomes
                #expect(all.count { $0.isUnanswered } == 50)
                #expect(all.count { $0.isNotProcessed } == 20)
                #expect(await connection.untilClosed().contains("cut"))
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
        try await withClient(.echo) { connection, _ in
            let waiter = Task { await connection.untilClosed() }
            waiter.cancel()
            #expect(await waiter.value == "no longer waiting")
            #expect(connection.state.isUsable)
        }
    }
}

struct HeartbeatTests {
    private func at(_ seconds: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(seconds) * 1_000_000_000) }

    private func heartbeat() -> Heartbeat {
        Heartbeat(idle: .seconds(60), busy: .seconds(5), timeout: .seconds(2), now: at(0))
    }

    @Test func `without awaited answers a PING is sent late`() {
        var beat = heartbeat()
        #expect(beat.check(now: at(59)) == .wait)
        #expect(beat.check(now: at(60)) == .ping)
        #expect(beat.check(now: at(61)) == .wait)
        #expect(beat.check(now: at(62)) == .dead)
    }

    @Test func `with awaited answers a PING is sent soon`() {
        var beat = heartbeat()
        beat.setAwaiting(true, now: at(30))
        #expect(beat.check(now: at(34)) == .wait)
        #expect(beat.check(now: at(35)) == .ping)
        #expect(beat.next == at(37))
    }

    @Test func `all received bytes count as a sign of life`() {
        var beat = heartbeat()
        beat.setAwaiting(true, now: at(0))
        #expect(beat.check(now: at(5)) == .ping)
        beat.noteRead(now: at(6))
        #expect(beat.check(now: at(7)) == .wait)
        #expect(beat.check(now: at(11)) == .ping)
    }

    @Test func `the silence counts from the beginning of the wait`() {
        var beat = heartbeat()
        beat.setAwaiting(true, now: at(50))
        beat.setAwaiting(true, now: at(54))
        #expect(beat.next == at(55))
        beat.setAwaiting(false, now: at(54))
        #expect(beat.next == at(60))
    }
}

/// Peers that keep the connection open and do nothing. Requests end at their deadlines and free what they used.
@Suite(.timeLimit(.minutes(20))) struct StallTests {
    /// SETTINGS_INITIAL_WINDOW_SIZE 0, so bodies can never be sent.
    private static let noWindow = Frame.make(type: 4, [0, 4, 0, 0, 0, 0])

    @Test func `a window that never opens costs only the request's time`() async throws {
        try await RawServer.with(bytes: Self.noWindow, client: { $0.maximumConcurrentStreams = 5 }) { connection in
            // If the streams were not freed, the requests of the next round would fail with `notProcessed`.
            for _ in 0..<2 {
                let outcomes = await connection.outcomes(5) { _ in .seconds(2) }
                #expect(outcomes.allSatisfy { $0.isUnanswered }, "\(outcomes)")
            }
            #expect(connection.state.isUsable)
        }
    }
}

@Suite(.timeLimit(.minutes(20))) struct ResetTests {
    @Test(arguments: [HTTP2ErrorCode.internalError, .cancel, .noError, .enhanceYourCalm])
    func `a request that is reset with another code than REFUSED_STREAM is unanswered`(code: HTTP2ErrorCode)
        async throws
    {
        let handler = TestHandler.answering { _, stream in
            stream.reset(code: code.rawValue)
        }
        try await withClient(handler) { connection, _ in
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
