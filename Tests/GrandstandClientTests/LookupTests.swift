internal import Foundation
internal import Testing

@testable internal import GrandstandClient

/// Lookups that wait for a channel, and the cache.
struct LookupTests {
    private static let app = GrandstandClient.AppEnvironment("com.example.Stadium", .production)
    private static let headers = ["ETag": "\"v1\"", "Cache-Control": "public, max-age=10"]

    private static func lookup(endsAt: String = "null", state: String = "{}") -> String {
        #"{"eventKey":"derby","channelId":"Y2g=","storagePolicy":"noMessageStored","state":"live","startsAt":null,"endsAt":\#(endsAt),"contentState":\#(state),"timestamp":5}"#
    }

    /// Runs `body` with a client that has a cache, and the cache's folder.
    private static func withCache(
        _ transport: ScriptedTransport, _ held: HeldTime = HeldTime(), retry: GrandstandClient.RetryPolicy = .standard,
        files: Int = 200, _ body: (GrandstandClient, URL) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = AnswerCache(folder: folder, maximumFiles: files)
        try await body(.test(transport, held, retry: retry, cache: cache), folder)
    }

    @Test func `a lookup waits for a pending channel as the server says, up to its time limit`() async throws {
        let pending: @Sendable () throws -> GrandstandClient.Answer = {
            .problem(404, "channel-pending", headers: ["Retry-After": "2"])
        }
        let held = HeldTime(chance: 0)
        let transport = ScriptedTransport([pending, pending, { .json(Self.lookup(state: "{\"a\": 1.50}")) }])
        let found = try await GrandstandClient.test(transport, held).lookup("derby", in: Self.app, contentState: true)
        #expect(found.channelId == "Y2g=")
        #expect(found.contentState?.description == "{\"a\": 1.50}")
        #expect(found.origin == .server)
        #expect(held.waits == [2, 2])

        let forever = ScriptedTransport([pending])
        let problem = await #expect(throws: ServerProblem.self) {
            try await GrandstandClient.test(forever, held).lookup("derby", in: Self.app, patience: 5)
        }
        #expect(problem?.kind == .channelPending)
        #expect(forever.requests.count == 3)
    }

    @Test func `an answer is kept as long as the server allows, and then confirmed by its tag`() async throws {
        let held = HeldTime()
        let transport = ScriptedTransport { request in
            request.headers["If-None-Match"] == "\"v1\""
                ? .init(status: 304, headers: Self.headers) : .json(Self.lookup(), headers: Self.headers)
        }
        try await Self.withCache(transport, held) { client, folder in
            let first = try await client.lookup("derby", in: Self.app)
            held.advance(9)
            // Another process with the same folder.
            let other = GrandstandClient.test(transport, held, cache: AnswerCache(folder: folder))
            let second = try await other.lookup("derby", in: Self.app)
            #expect([first.origin, second.origin] == [.server, .cache])
            #expect(second.asOf == first.asOf)
            #expect(transport.requests.count == 1)
            held.advance(1)
            let third = try await client.lookup("derby", in: Self.app)
            #expect(third.origin == .server)
            #expect(third.value == first.value)
            #expect(transport.requests.count == 2)
            held.advance(5)
            #expect(try await client.lookup("derby", in: Self.app).origin == .cache)
            // After a clock was set back, the age of an answer is unknown.
            held.advance(-3600)
            #expect(try await client.lookup("derby", in: Self.app).origin == .server)
            // Each variant and each API key has its own stored answer. This variant has no stored answer, so the
            // request has no `If-None-Match`.
            _ = try await client.lookup("derby", in: Self.app, variant: "de")
            #expect(transport.requests.last?.headers["If-None-Match"] == nil)
        }
    }

    @Test func `without a network the last answer is returned and marked, but never after the end of its event`()
        async throws
    {
        let held = HeldTime()
        let ends = held.now.addingTimeInterval(3600).formatted(.iso8601)
        let transport = ScriptedTransport([
            { .json(Self.lookup(endsAt: "\"\(ends)\""), headers: Self.headers) },
            { throw URLError(.notConnectedToInternet) },
        ])
        try await Self.withCache(transport, held) { client, _ in
            let first = try await client.lookup("derby", in: Self.app)
            held.advance(1800)
            let stale = try await client.lookup("derby", in: Self.app)
            #expect(stale.origin == .stale)
            #expect(stale.asOf == first.asOf)
            // With a stored answer, the client gives up after two attempts, so nobody waits a minute.
            #expect(transport.requests.count == 3)
            held.advance(1801)
            await #expect(throws: URLError.self) { try await client.lookup("derby", in: Self.app) }
        }
    }

    @Test(arguments: [GrandstandClient.RetryPolicy.standard, .never])
    func `with a stored answer nobody waits longer than four seconds, whatever the policy`(
        policy: GrandstandClient.RetryPolicy
    ) async throws {
        let held = HeldTime()
        let transport = ScriptedTransport { request in
            // Only the first request has no tag.
            guard request.headers["If-None-Match"] != nil else { return .json(Self.lookup(), headers: Self.headers) }
            held.advance(request.timeout)
            throw URLError(.timedOut)
        }
        try await Self.withCache(transport, held, retry: policy) { client, _ in
            _ = try await client.lookup("derby", in: Self.app)
            held.advance(60)
            let began = held.now
            #expect(try await client.lookup("derby", in: Self.app).origin == .stale)
            #expect(held.now.timeIntervalSince(began) <= 4)
            #expect(transport.requests.count == 2)
        }
    }

    @Test func `answers about events that are over or gone are removed`() async throws {
        let held = HeldTime()
        let transport = ScriptedTransport([
            { .json(Self.lookup(), headers: Self.headers) }, { .problem(410, "event-ended") },
            { throw URLError(.notConnectedToInternet) },
        ])
        try await Self.withCache(transport, held) { client, _ in
            _ = try await client.lookup("derby", in: Self.app)
            held.advance(11)
            await #expect(throws: ServerProblem.self) { try await client.lookup("derby", in: Self.app) }
            await #expect(throws: URLError.self) { try await client.lookup("derby", in: Self.app) }
        }
    }

    @Test func `a list from the cache leaves out events that are over`() async throws {
        let held = HeldTime()
        func item(_ key: String, _ seconds: Double) -> String {
            let ends = held.now.addingTimeInterval(seconds).formatted(.iso8601)
            return
                #"{"eventKey":"\#(key)","channelId":null,"storagePolicy":"noMessageStored","state":"live","startsAt":null,"endsAt":"\#(ends)","name":"n","kind":null,"topics":[]}"#
        }
        let text = #"{"items":[\#(item("soon", 5)),\#(item("later", 500))],"nextCursor":null}"#
        let transport = ScriptedTransport([{ .json(text, headers: Self.headers) }])
        try await Self.withCache(transport, held) { client, _ in
            #expect(try await client.followables(in: Self.app).items.map(\.eventKey) == ["soon", "later"])
            held.advance(6)
            let kept = try await client.followables(in: Self.app)
            #expect(kept.origin == .cache)
            #expect(kept.items.map(\.eventKey) == ["later"])
        }
    }

    @Test func `a file that cannot be read is ignored, and a folder that cannot be written does no harm`() async throws
    {
        let transport = ScriptedTransport([{ .json(Self.lookup(), headers: Self.headers) }])
        try await Self.withCache(transport) { client, folder in
            _ = try await client.lookup("derby", in: Self.app)
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            try Data("{\"addr".utf8).write(to: try #require(files.first))
            #expect(try await client.lookup("derby", in: Self.app).origin == .server)
            #expect(try await client.lookup("derby", in: Self.app).origin == .cache)
            let nowhere = AnswerCache(folder: try #require(files.first).appending(path: "inside a file"))
            let other = GrandstandClient.test(transport, cache: nowhere)
            #expect(try await other.lookup("derby", in: Self.app).origin == .server)
        }
    }

    @Test func `the cache folder has a limited number of files, and the oldest are removed`() async throws {
        let transport = ScriptedTransport([{ .json(Self.lookup(), headers: Self.headers) }])
        try await Self.withCache(transport, files: 5) { client, folder in
            for number in 0..<20 { _ = try await client.lookup("event-\(number)", in: Self.app) }
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            #expect(files.count == 5)
            #expect(try await client.lookup("event-19", in: Self.app).origin == .cache)
        }
    }

    @Test func `no-store is not stored, no-cache is always confirmed, and Age counts`() async throws {
        func kept(_ control: String, age: String = "0") throws -> CachedAnswer? {
            let held = HeldTime()
            return CachedAnswer(
                .init(status: 200, headers: ["cache-control": control, "age": age], body: Data()), to: "a",
                at: held.now)
        }
        let now = HeldTime().now
        #expect(try kept("no-store") == nil)
        #expect(try kept("Public, Max-Age=\"10\"")?.isFresh(at: now.addingTimeInterval(9)) == true)
        #expect(try kept("max-age=10, no-cache")?.isFresh(at: now) == false)
        #expect(try kept("")?.isFresh(at: now) == false)
        #expect(try kept("max-age=10", age: "7")?.isFresh(at: now.addingTimeInterval(2)) == true)
        #expect(try kept("max-age=10", age: "7")?.isFresh(at: now.addingTimeInterval(3)) == false)
    }

    @Test func `any number of events is looked up, a hundred at a time`() async throws {
        let transport = ScriptedTransport([
            { .json(#"{"items":[],"missing":[{"eventKey":"e","reason":"event-ended"}]}"#) }
        ])
        let keys = (0..<250).map { "event-\($0)" }
        let answer = try await GrandstandClient.test(transport).lookup(keys, in: Self.app)
        #expect(transport.requests.count == 3)
        #expect(answer.missing.map(\.reason) == [.eventEnded, .eventEnded, .eventEnded])
    }
}
