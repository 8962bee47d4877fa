import NIOCore
import NIOPosix
import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct ConnectTests {
    /// Why connecting with this configuration fails; `nil`: it succeeds.
    private func failure(_ settings: HTTP2ClientConfiguration) async -> HTTP2ConnectError? {
        do throws(HTTP2ConnectError) {
            let connection = try await HTTP2ClientConnection.connect(settings, logger: quiet)
            await connection.close()
            return nil
        } catch {
            return error
        }
    }

    /// Why connecting to a server that sends only these bytes fails.
    private func refusal(
        identity: TestAuthority.Identity? = TestAuthority.shared.local, protocols: [String] = ["h2"],
        bytes: [UInt8] = [], thenClose: Bool = false, timeout: Duration? = nil
    ) async throws -> HTTP2ConnectError {
        let server = try await RawServer.start(
            identity: identity, protocols: protocols, bytes: bytes, thenClose: thenClose)
        var settings = configuration(server.port)
        if let timeout { settings.connectTimeout = timeout }
        let error = await failure(settings)
        await server.stop()
        return try #require(error)
    }

    @Test func `the error of a refused certificate says what to check`() {
        var system = configuration(443)
        system.trustRoots = .system
        for (settings, error, words) in [
            (configuration(443), TLSError.untrusted("certificate has expired"), "has expired"),
            (configuration(443), .untrusted("certificate has expired"), "the clock"),
            (system, .untrusted("unable to get local issuer certificate"), "system's CA certificates"),
            (configuration(443), .wrongName, "not for 127.0.0.1"), (configuration(443), .oldVersion, "TLS 1.2"),
            (configuration(443), .notTLS, "does not speak TLS"),
            (configuration(443), .untrusted("self-signed certificate"), "configured CA file"),
        ] {
            let error = settings.error(at: .handshaking, error.summary, cause: error)
            #expect(error.kind == .tls && error.message.contains(words), "\(error)")
        }
    }

    @Test func `a certificate for another name is refused and the right name accepted`() async throws {
        try await withServer(.echo, identity: TestAuthority.shared.elsewhere) { server in
            var settings = configuration(server.port)
            settings.serverName = "here.example"
            let error = try #require(await failure(settings))
            #expect(error.kind == .tls)
            #expect(error.message.contains("not for here.example"), "\(error)")
            settings.serverName = "elsewhere.example"
            #expect(await failure(settings) == nil)
        }
    }

    @Test(arguments: [["http/1.1"], []])
    func `a server without HTTP/2 is refused`(protocols: [String]) async throws {
        #expect(try await refusal(protocols: protocols).kind == .alpn)
    }

    @Test func `a refused handshake is reported with the name of TLS's error`() async throws {
        // A fatal alert `handshake_failure` (RFC 8446, 6.2).
        let error = try await refusal(identity: nil, bytes: [21, 3, 3, 0, 2, 2, 40])
        #expect(error.kind == .tls)
        #expect(error.message.contains("TLS error: sslv3 alert handshake failure"), "\(error)")
    }

    @Test func `a server that sends no SETTINGS times out`() async throws {
        #expect(try await refusal(timeout: .seconds(1)).kind == .timedOut)
    }

    @Test func `the error says which step timed out`() {
        let settings = configuration(443)
        for (stage, words) in [(Session.Stage.handshaking, "no TLS handshake"), (.awaitingSettings, "no SETTINGS")] {
            let error = settings.error(at: stage, "", cause: HTTP2ClientConfiguration.TimedOut())
            #expect(error.kind == .timedOut && error.message.contains(words))
        }
    }

    /// The last of these frames is a PING where SETTINGS must come first.
    @Test(arguments: [
        Array("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n".utf8), [UInt8](repeating: 0xff, count: 4_096),
        Frame.ping,
    ])
    func `garbage or the end of the connection instead of SETTINGS is a clean error`(bytes: [UInt8]) async throws {
        let error = try await refusal(bytes: bytes)
        #expect(error.kind == .settings && error.message.contains("did not begin it"), "\(error)")
        #expect(try await refusal(bytes: [0], thenClose: true).kind == .settings)
    }

    /// APNs asks for a certificate, too. The client sends an empty one.
    @Test func `a server that asks for a certificate is tolerated`() async throws {
        let server = try await RawServer.start(bytes: Frame.settings, asksForCertificate: true)
        #expect(await failure(configuration(server.port)) == nil)
        await server.stop()
    }

    @Test func `a closed port is refused`() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = listener.localAddress?.port ?? 1
        try await listener.close()
        let error = try #require(await failure(configuration(port)))
        #expect(error.kind == .connect)
        #expect(error.message.contains("Connection refused"), "\(error)")
    }

    @Test func `the error of a name without an address says so`() async throws {
        let error = try #require(await failure(configuration(443, host: "no-such-host.invalid")))
        #expect(error.kind == .resolve, "\(error)")
        #expect(error.message.contains("no-such-host.invalid has no address"))
    }

    @Test(arguments: ["/nowhere/ca.pem", "/etc/passwd"])
    func `an unusable authority file is found before a connection is needed`(path: String) throws {
        let error = #expect(throws: HTTP2ConnectError.self) {
            try HTTP2ClientConfiguration.TrustRoots.file(path).check()
        }
        #expect(error?.kind == .tls && error?.message.contains(path) == true)
        try HTTP2ClientConfiguration.TrustRoots.system.check()
    }

    @Test func `cancelling ends the attempt`() async throws {
        let server = try await RawServer.start(identity: nil, bytes: [])
        let attempt = Task { await failure(configuration(server.port)) }
        attempt.cancel()
        let error = try #require(await attempt.value)
        #expect(error.message.contains("cancelled"), "\(error)")
        await server.stop()
    }
}

struct FailureTests {
    private let goAway = HTTP2GoAway(lastStream: 41, code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
    private let refused = HTTP2ErrorCode.refusedStream.rawValue
    private let cancel = HTTP2ErrorCode.cancel.rawValue

    @Test func `requests that were never processed may be repeated, and the result of all others is unknown`() {
        let failures: [(HTTP2Failure, isSafe: Bool)] = [
            (.streamClosed(1, code: cancel, written: false, goAway: nil), true),
            (.streamClosed(1, code: refused, written: true, goAway: nil), true),
            (.streamClosed(43, code: refused, written: true, goAway: goAway), true),
            (.streamClosed(43, code: cancel, written: true, goAway: goAway), true),
            (.connectionLost("cut", written: false), true),
            (.timedOut(after: .seconds(1), started: false, written: false), true),
            (.timedOut(after: .seconds(1), started: true, written: false), true),
            (.streamClosed(1, code: cancel, written: true, goAway: nil), false),
            (.streamClosed(41, code: cancel, written: true, goAway: goAway), false),
            (.streamClosed(1, code: 0, written: true, goAway: nil), false),
            (.connectionLost("cut", written: true), false),
            (.timedOut(after: .seconds(1), started: true, written: true), false),
        ]
        for (failure, isSafe) in failures {
            let isNotProcessed = if case .notProcessed = failure { true } else { false }
            #expect(isNotProcessed == isSafe, "\(failure)")
        }
    }

    @Test func `the reason contains the peer's text, and a long text of a GOAWAY is cut`() {
        let end = HTTP2Failure.streamClosed(43, code: refused, written: true, goAway: goAway)
        #expect(end.description.contains("Shutdown") && end.description.contains("NO_ERROR"))
        let long = HTTP2GoAway(lastStream: 0, code: 11, debugData: [UInt8](repeating: 65, count: 60_000))
        #expect(long.debugData.count == HTTP2GoAway.debugLimit && long.text.count < 1_100)
        #expect(!HTTP2GoAway(lastStream: 0, code: 0, debugData: Array("a\nb\r\nc".utf8)).text.contains { $0.isNewline })
    }
}

@Suite(.timeLimit(.minutes(20))) struct LimitTests {
    private func answer(_ exchanges: [TestHandler.Exchange]) {
        for exchange in exchanges { exchange.stream.respond(status: 200, headers: [], body: []) }
    }

    private func callers(_ count: Int, _ connection: HTTP2ClientConnection) -> Task<Int, Never> {
        Task { await connection.outcomes(count).count { $0.status == 200 } }
    }

    @Test func `there is one stream until the caller says that the peer accepted a request`() async throws {
        try await withClient(client: { $0.initialStreamLimit = 1 }) { connection, handler in
            #expect(connection.state.streamLimit == 1)
            let answers = callers(50, connection)
            answer(try await handler.take(1))
            let second = try await handler.take(1)
            #expect(connection.state.streamsInUse == 1)
            connection.liftInitialLimit()
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
        try await withClient(client: { $0.firstStreamID = 0x7fff_fffd }) { connection, handler in
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
            #expect(await connection.untilClosed().contains("stream ids"))
        }
    }
}
