internal import Foundation
internal import GrandstandClient
internal import Synchronization
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
