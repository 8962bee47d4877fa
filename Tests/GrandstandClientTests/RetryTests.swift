internal import Foundation
internal import GrandstandClient
internal import JSON
internal import Testing

/// Calls over a transport that fails, with a clock that the test controls.
struct RetryTests {
    private static let event =
        #"{"key":"derby","name":"D","kind":null,"state":"live","startsAt":null,"endsAt":null,"channelsOpenAt":null,"channelsOpenBefore":null,"audiences":[],"metadata":{"a":1.50},"topics":[],"start":null,"defaults":null,"createdAt":"2026-11-21T20:45:00.000Z","updatedAt":"2026-11-21T20:45:00Z"}"#

    @Test func `a call continues after faults, 5xx and 429, and has the necessary headers`() async throws {
        let held = HeldTime()
        let transport = ScriptedTransport([
            { throw URLError(.networkConnectionLost) }, { .problem(503, "store-unavailable") },
            { .problem(429, "rate-limited", headers: ["Retry-After": "3"]) }, { .json(Self.event) },
        ])
        let event = try await GrandstandClient.test(transport, held).send(.getEvent("derby"))
        #expect(event.state == .live)
        #expect(event.metadata.description == #"{"a":1.50}"#)
        #expect(held.waits == [0.5, 1, 5])
        #expect(transport.requests.count == 4)
        #expect(
            Set(transport.requests.map(\.url.absoluteString)) == ["https://grandstand.example/base/v1/events/derby"])
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
    }

    @Test func `a POST is repeated unchanged, and another call has another key`() async throws {
        let transport = ScriptedTransport([{ throw URLError(.timedOut) }, { .problem(422, "unknown-field") }])
        let client = GrandstandClient.test(transport)
        func createKey() -> GrandstandClient.Call<GrandstandClient.IssuedKey> {
            .createKey(name: "n", scopes: [.lookup])
        }
        await #expect(throws: ServerProblem.self) { try await client.send(createKey()) }
        let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 2)
        #expect(keys[0] != nil && keys[0] == keys[1])
        await #expect(throws: ServerProblem.self) { try await client.send(createKey()) }
        #expect(transport.requests.last?.headers["Idempotency-Key"] != keys[0])
        await #expect(throws: ServerProblem.self) { try await client.send(createKey().idempotencyKey("mine")) }
        #expect(transport.requests.last?.headers["Idempotency-Key"] == "mine")
    }

    @Test func `if a deletion got no answer and its repetition gets 404, it succeeded`() async throws {
        let transport = ScriptedTransport([{ throw URLError(.timedOut) }, { .problem(404, "event-not-found") }])
        try await GrandstandClient.test(transport).send(.cancelEvent("derby"))
        let fresh = ScriptedTransport([{ .problem(404, "event-not-found") }])
        await #expect(throws: ServerProblem.self) {
            try await GrandstandClient.test(fresh).send(.cancelEvent("derby"))
        }
    }

    @Test func `the deadline limits a call and each of its attempts`() async throws {
        let held = HeldTime()
        let policy = GrandstandClient.RetryPolicy(attempts: 100, deadline: 20)
        let transport = ScriptedTransport { _ in
            held.advance(6)
            throw URLError(.timedOut)
        }
        await #expect(throws: URLError.self) {
            try await GrandstandClient.test(transport, held, retry: policy).send(.getEvent("derby"))
        }
        let timeouts = transport.requests.map(\.timeout)
        #expect(timeouts.first == 15)
        #expect(timeouts.last.map { $0 < 10 } ?? false)
        #expect(transport.requests.count == 3)
    }

    @Test func `"not ready" is an answer and is not repeated`() async throws {
        let text =
            #"{"status":"not-ready","database":"unavailable","detail":"d","apns":{"development":{"state":"unknown","reason":null},"production":{"state":"reachable","reason":null}}}"#
        let transport = ScriptedTransport([{ .init(status: 503, body: Data(text.utf8)) }])
        let readiness = try await GrandstandClient.test(transport).send(.readiness())
        #expect(readiness.database == .unavailable)
        #expect(readiness.apns.production.state == .reachable)
        #expect(transport.requests.count == 1)
    }

    @Test func `a cancelled call ends at once, in a wait and in a request`() async throws {
        let transport = ScriptedTransport([{ .problem(503, "store-unavailable", headers: ["Retry-After": "50"]) }])
        let (waits, waiting) = AsyncStream<Void>.makeStream()
        var client = GrandstandClient.test(transport)
        client.time.sleep = { _ in
            waiting.yield()
            try await Task.sleep(for: .seconds(3600))
        }
        let call = Task { [client] in try await client.send(.getEvent("derby")) }
        for await _ in waits { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func `a list is read page by page, as far as the caller reads`() async throws {
        let transport = ScriptedTransport([
            { .json(#"{"items":[{"topic":"a","followers":3},{"topic":"b","followers":2}],"nextCursor":"c1"}"#) },
            { .json(#"{"items":[],"nextCursor":"c2"}"#) },
            { .json(#"{"items":[{"topic":"c","followers":1}],"nextCursor":null}"#) },
        ])
        let app = GrandstandClient.AppEnvironment("com.example.Stadium", .production)
        var topics: [String] = []
        for try await topic in GrandstandClient.test(transport).entries(of: .listTopics(in: app)) {
            topics.append(topic.topic)
        }
        #expect(topics == ["a", "b", "c"])
        #expect(transport.requests.map(\.url.query) == [nil, "cursor=c1", "cursor=c2"])
    }
}

/// Which requests are repeated, and after which wait. The tests need no clock.
struct RetryPolicyTests {
    private typealias Policy = GrandstandClient.RetryPolicy

    private static func answer(_ status: Int, _ kind: Contract.ProblemKind? = nil, after: Int? = nil)
        -> Policy.Outcome
    {
        .answer(status: status, kind: kind, retryAfter: after)
    }

    /// APNs' answer is final, whatever its status. A repetition during the first attempt waits for that attempt.
    @Test(
        arguments: [
            (true, nil, [500, 502, 503, 504, 429]), (true, .idempotencyInProgress, [409]),
            (false, nil, [301, 400, 401, 403, 404, 409, 410, 412, 413, 415, 422, 501]),
            (false, .apnsRefused, [502]), (false, .apnsUnanswered, [504]),
        ] as [(Bool, Contract.ProblemKind?, [Int])])
    func `a temporary failure is repeated, a permanent refusal is not`(
        repeats: Bool, kind: Contract.ProblemKind?, statuses: [Int]
    ) {
        for status in statuses {
            let answer = Self.answer(status, kind)
            let wait = Policy.standard.wait(after: answer, made: 1, elapsed: .zero, chance: 0.5)
            #expect((wait != nil) == repeats, "\(status)")
        }
    }

    @Test func `network faults are repeated, a wrong address or certificate is not`() {
        func wait(_ code: URLError.Code) -> TimeInterval? {
            Policy.standard.wait(after: .fault(URLError(code)), made: 1, elapsed: .zero, chance: 1)
        }
        for code in [URLError.timedOut, .networkConnectionLost, .cannotConnectToHost, .notConnectedToInternet] {
            #expect(wait(code) != nil)
        }
        for code in [URLError.badURL, .serverCertificateUntrusted, .cancelled] { #expect(wait(code) == nil) }
        #expect(
            Policy.standard.wait(after: .fault(CancellationError()), made: 1, elapsed: .zero, chance: 1) == nil)
    }

    @Test func `a wait is random, up to a limit that doubles up to its maximum`() {
        let policy = Policy(attempts: 20, firstWait: 1, longestWait: 5, deadline: 1000)
        func wait(_ made: Int, _ chance: Double) -> TimeInterval? {
            policy.wait(after: Self.answer(503), made: made, elapsed: .zero, chance: chance)
        }
        #expect((1...5).map { wait($0, 1) } == [1, 2, 4, 5, 5])
        #expect((1...5).map { wait($0, 0) } == Array(repeating: .zero, count: 5))
        #expect(wait(3, 0.25) == 1)
        #expect(wait(19, 1) == 5)
        #expect(wait(20, 1) == nil)
    }

    @Test func `Retry-After is respected, and a wait never goes past the deadline`() {
        let policy = Policy(attempts: 9, firstWait: 1, longestWait: 5, deadline: 30)
        for (status, after, elapsed, chance, wait) in [
            (429, 7, 0, 0, 7), (429, 7, 0, 1, 8), (429, 7, 23, 0, nil), (503, 86_400, 0, 0, nil),
            (503, nil, 30, 0, nil),
        ] as [(Int, Int?, Double, Double, Double?)] {
            let answer = Self.answer(status, after: after)
            #expect(policy.wait(after: answer, made: 1, elapsed: elapsed, chance: chance) == wait)
        }
    }
}

/// Keys and secrets are in no description, debugger output or dump.
struct SecretTests {
    private static let secret = "gs_do_not_print_me"

    private static func texts(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped].joined(separator: "\n")
    }

    @Test func `values that contain a key or a secret do not show it in logs`() async throws {
        let app = GrandstandClient.AppEnvironment("com.example.Stadium", .production)
        let identity = GrandstandClient.InstallationIdentity(
            app: app, installationId: "INSTALLATION", secret: Self.secret)
        let transport = ScriptedTransport([{ .json("{}") }])
        let server = try #require(URL(string: "https://grandstand.example"))
        let client = GrandstandClient(server: server, key: Self.secret, transport: ScriptedTransport([]))
        let call = GrandstandClient.Call<GrandstandClient.Installation>.getInstallation(identity)
        _ = try await GrandstandClient(server: server, key: Self.secret, transport: transport).exchange(call)
        let request = try #require(transport.requests.first)
        #expect(request.headers["Authorization"] == "Bearer \(Self.secret)")
        #expect(request.headers["Grandstand-Installation-Secret"] == Self.secret)
        let issued =
            #"{"id":"k","name":"n","scopes":["device"],"prefix":"gs_","state":"active","createdAt":"2026-11-21T20:45:00Z","secret":"\#(Self.secret)"}"#
        let key = try JSONValue(decoding: issued.utf8).decode(GrandstandClient.IssuedKey.self)
        #expect(key.secret == Self.secret && key.name == "n")
        for value: Any in [client, identity, call, request, key] {
            #expect(!Self.texts(value).contains(Self.secret), "\(type(of: value))")
        }
        // The encoded identity, as it is stored in the keychain, contains the complete secret.
        let kept = try JSONDecoder().decode(
            GrandstandClient.InstallationIdentity.self, from: try JSONEncoder().encode(identity))
        #expect(kept == identity && kept.secret == Self.secret)
    }
}
