import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(20))) struct RoundTripTests {
    @Test func `a request and its answer arrive as they were sent`() async throws {
        try await withClient { connection, handler in
            let twice = [HTTP2Header("twice", "1"), HTTP2Header("a", ""), HTTP2Header("twice", "2")]
            let request = HTTP2Request(
                method: "POST", path: "/4/broadcasts/apps/a.B?x=%20", authority: "localhost:443", headers: twice,
                body: Array("body".utf8))
            async let answer = connection.send(request, timeout: .seconds(120))
            let exchange = try await handler.take(1)[0]
            #expect(exchange.request == request)
            #expect(!exchange.bodyIsCut)
            #expect(exchange.stream.id == 1)
            exchange.stream.respond(status: 201, headers: twice, body: [1, 2, 3])
            #expect(try await answer == HTTP2Response(status: 201, headers: twice, body: [1, 2, 3]))
        }
    }

    @Test(arguments: [("HEAD", 200), ("POST", 204), ("POST", 304)])
    func `answers that must not have a body have none`(method: String, status: Int) async throws {
        let handler = TestHandler.answering { _, stream in
            stream.respond(status: status, headers: [], body: [1, 2, 3])
        }
        try await withClient(handler) { connection, _ in
            let request = HTTP2Request(method: method, path: "/", authority: "localhost", headers: [], body: [])
            let response = try await connection.send(request, timeout: .seconds(120))
            #expect(response.status == status)
            #expect(response.body.isEmpty)
        }
    }

    @Test func `a body larger than every window is sent`() async throws {
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try await withClient(.echo, configure: { $0.maximumBodyKept = 1 << 20 }) { connection, _ in
            let response = try await connection.send(post(body: body), timeout: .seconds(120))
            #expect(response.body == body)
        }
    }

    @Test func `each of many concurrent requests gets its own answer`() async throws {
        try await withClient(.echo) { connection, _ in
            for (number, outcome) in await connection.outcomes(3_000, timeout: { _ in .seconds(120) }).enumerated() {
                #expect((try? outcome.get())?[header: "x-path"] == "/\(number)")
            }
            #expect(connection.state.isUsable)
        }
    }

    @Test func `a name is resolved, and the certificate verified`() async throws {
        try await withClient(.echo, configure: { $0.host = "localhost" }, client: { $0.host = "localhost" }) {
            connection, _ in
            #expect(await connection.outcome(post()).status == 200)
        }
    }
}

struct StreamBudgetTests {
    @Test func `nothing starts before SETTINGS, and then the lowest of the three limits counts`() {
        var budget = StreamBudget(cap: 1_000, initial: 1)
        #expect(!budget.admits(body: 0, inUse: 0, window: 65_535))
        budget.peerLimit = Int(UInt32.max)
        #expect(budget.limit == 1)
        budget.isProven = true
        #expect(budget.limit == 1_000)
        budget.peerLimit = 500
        #expect(budget.limit == 500)
        budget.peerLimit = 1
        #expect(budget.limit == 1)
    }

    @Test func `a body waits for room in the connection window`() {
        var budget = StreamBudget(cap: 1_000, initial: .max)
        budget.peerLimit = 1_000
        #expect(budget.admits(body: 600, inUse: 0, window: 600))
        budget.unsentBytes = 600
        #expect(!budget.admits(body: 600, inUse: 0, window: 1_199))
        #expect(budget.admits(body: 600, inUse: 0, window: 1_200))
        #expect(budget.admits(body: 0, inUse: 0, window: 0), "a request without a body needs no window")
    }

    @Test func `a body larger than the window is sent alone`() {
        var budget = StreamBudget(cap: 1_000, initial: .max)
        budget.peerLimit = 1_000
        #expect(budget.admits(body: 100_000, inUse: 0, window: 65_535))
        #expect(!budget.admits(body: 100_000, inUse: 0, window: 0))
        budget.unsentBytes = 1
        #expect(!budget.admits(body: 100_000, inUse: 0, window: 65_535))
    }
}

@Suite(.timeLimit(.minutes(20))) struct GoAwayTests {
    @Test func `streams up to the last are still answered, and new requests are given back`() async throws {
        let handler = TestHandler(answering: { _, stream in
            stream.connection.goAway(code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
            return false
        })
        try await withClient(handler) { connection, _ in
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
            #expect(await connection.untilClosed().contains("Shutdown"))
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
            _ = await connection.untilClosed()
        }
    }

    @Test func `a protocol error is named in the reason`() async throws {
        // WINDOW_UPDATE of 0 on the connection (RFC 9113 6.9).
        try await RawServer.with(bytes: Frame.settings, answer: Frame.make(type: 8, [0, 0, 0, 0])) { connection in
            #expect(await connection.outcome(post()).isUnanswered)
            #expect(await connection.untilClosed().contains("PROTOCOL_ERROR"))
        }
    }
}
