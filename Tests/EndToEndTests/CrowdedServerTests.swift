internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Requests that clients do not finish, or that are not valid HTTP.
@Suite(.timeLimit(.minutes(20)))
struct BrokenBodyTests {
    private static let overflow = String(repeating: "f", count: 40)
    private static let trailers = (0..<3_000).map { "X-\($0): 1\r\n" }.joined()

    @Test func `slow, lost and malformed requests are ended or refused with a reason, and cause no error`() async throws
    {
        try await Stage.with(settings: ["GRANDSTAND_CLIENT_TIMEOUT": "5"]) { stage in
            func send(_ texts: [String]) throws -> [Peer] {
                try texts.map { text in
                    let peer = try Peer(stage.url)
                    peer.send(text)
                    return peer
                }
            }
            let slow = try send([
                "", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
                "POST /v1/broadcasts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
            ])
            for lost in try send(Array(repeating: Self.head(stage, "Content-Length: 1000") + "{", count: 20)) {
                lost.hangUp()
            }
            try await until("all are counted") {
                try await MetricsTests.scrape(stage.api).contains(#"status="499"} 20"#)
            }
            let bodies = [
                "zz\r\n{}\r\n0\r\n\r\n", "\(Self.overflow)\r\n{}\r\n", "2\r\n{}\r\n0\r\n\(Self.trailers)\r\n",
            ]
            let chunked = try Self.head(stage, "Transfer-Encoding: chunked")
            for peer in try send(bodies.map { chunked + $0 }) {
                let answer = await peer.untilClosed()
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("The body cannot be read"))
            }
            let (long, form) = (String(repeating: "x", count: 40_000), "application/x-www-form-urlencoded")
            let refused = try send([
                "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: \(long)\r\n\r\n",
                "POST /console/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: \(form)\r\n"
                    + "Content-Length: 9223372036854775807\r\n\r\nkey=",
            ])
            #expect(await refused[0].untilClosed().hasPrefix("HTTP/1.1 4"))
            #expect(await refused[1].answer().hasPrefix("HTTP/1.1 413"))
            #expect(try await !MetricsTests.scrape(stage.api).contains(#"status="500""#))
            // If the header is complete, the server may answer before it waits in vain for the rest of the body.
            for peer in slow {
                let answer = await peer.untilClosed()
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 401"))
            }
        }
    }

    @Test func `a request for whose body there is no room gets 503 and Retry-After`() async throws {
        try await Stage.with { stage in
            // Each request declares a body of 4 MB and sends one byte of it: the server reserves the memory for a body
            // before it reads the body.
            let peers = try (0..<20).map { _ in try Peer(stage.url) }
            let head = try Self.head(stage, "Content-Length: 4000000", path: "/v1/broadcasts", method: "POST")
            for peer in peers { peer.send(head + "[") }
            let refused = try await until("one finds no room") {
                peers.lazy.compactMap { $0.takeNow() }.first { !$0.isEmpty }
            }
            #expect(refused.hasPrefix("HTTP/1.1 503 "))
            #expect(refused.lowercased().contains("retry-after: 1"))
            #expect(try await stage.caller([.operate])("GET", "/v1/quotas").status == 200)
        }
    }

    private static func head(
        _ stage: Stage, _ length: String, path: String = "/v1/events/derby", method: String = "PUT"
    ) throws -> String {
        let secret = try #require(stage.api.secret)
        return "\(method) \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(secret)\r\n"
            + "Content-Type: application/json\r\n\(length)\r\n\r\n"
    }
}

/// Calls with many broadcasts wait for their turn before they take a connection, so single broadcasts always find one.
@Suite(.timeLimit(.minutes(20)))
struct BulkTurnTests {
    @Test func `twelve blocked bulk calls do not delay another event's broadcasts, with or without an idempotency key`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            for key in ["derby", "final"] { try await stage.liveEvent(key) }
            try await Stage.onDatabase(of: stage.environment) { pool in
                let items = (0..<250).map {
                    #"{"eventKey": "final", "event": "update", "contentState": {"n": \#($0)}}"#
                }
                let body = #"{"items": [\#(items.joined(separator: ","))]}"#
                let (held, holding) = AsyncStream.makeStream(of: Void.self)
                let (over, ending) = AsyncStream.makeStream(of: Void.self)
                async let holder: Void = pool.transaction { connection in
                    try await connection.query("select from events where key = 'final' for update")
                    holding.finish()
                    for await _ in over {}
                }
                for await _ in held {}
                // The calls are answered one after the other.
                let slow = HTTPCaller(url: stage.url, secret: stage.api.secret, timeout: .seconds(600))
                let calls = Task {
                    try await concurrently(12) { n in
                        let headers = n.isMultiple(of: 3) ? [:] : ["Idempotency-Key": "bulk-\(n)"]
                        // A call that has waited for a minute gets 503, so it is repeated.
                        return try await until("it is answered with anything but 503", within: .seconds(600)) {
                            let answer = try await slow("POST", "/v1/broadcasts", body, headers: headers)
                            return answer.status == 503 ? nil : answer.status
                        }
                    }
                }
                try await until("one of them waits for the event") {
                    try await !pool.query(
                        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
                    ).isEmpty
                }
                // If the waiting calls held connections, too few connections would be left, and these forty calls would
                // be delayed or refused.
                for n in 0..<40 {
                    let headers = n.isMultiple(of: 2) ? [:] : ["Idempotency-Key": "goal-\(n)"]
                    let goal = try await stage.api(
                        "POST", "/v1/events/derby/broadcasts", #"{"event": "update", "contentState": {"n": \#(n)}}"#,
                        headers: headers)
                    #expect(goal.status == 202, "\(goal.text)")
                }
                // Two connections remain in use: the connection of the call whose turn it is, and the connection of the
                // transaction that this call waits for. The connections of single broadcasts become free by themselves.
                try await until("nobody else keeps a connection") {
                    try await pool.query(
                        """
                        select from pg_stat_activity where datname = current_database()
                            and (wait_event_type = 'Lock' or state = 'idle in transaction')
                        """
                    ).count == 2
                }
                ending.finish()
                try await holder
                #expect(try await calls.value == Array(repeating: 202, count: 12))
            }
        }
    }
}

/// Phones, and clients without a key, cannot lock organisers out, however many they are.
@Suite(.timeLimit(.minutes(20)))
struct ShareTests {
    private static func request(_ path: String, _ secret: String?) -> String {
        let key = secret.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return "GET \(path) HTTP/1.1\r\nHost: x\r\n\(key)\r\n"
    }

    @Test func `forty connections of phones leave room for organisers, with an app's key or without a key`()
        async throws
    {
        try await Stage.with(settings: ["GRANDSTAND_MAX_CONNECTIONS": "10"]) { stage in
            try await stage.putLiveEvent()
            let question = Self.request("/v1/events/derby", try await stage.caller([.organise]).secret)
            func ask(_ organiser: Peer) async {
                organiser.send(question)
                #expect(await organiser.answer().hasPrefix("HTTP/1.1 200"))
            }
            for secret in [try await stage.caller([.lookup]).secret, nil] {
                let organiser = try Peer(stage.url)
                await ask(organiser)
                var phones: [Peer] = []
                for _ in 0..<40 {
                    let phone = try Peer(stage.url)
                    phone.send(Self.request("/v1/lookup/com.example.Stadium/development/derby", secret))
                    #expect(await phone.answer().hasPrefix("HTTP/1.1 \(secret == nil ? 401 : 200)"))
                    phones.append(phone)
                }
                // An organiser that connects now is served, and so is the organiser that connected first. The server
                // has closed the oldest connections of the phones.
                await ask(try Peer(stage.url))
                await ask(organiser)
                for phone in phones.prefix(30) { #expect(await phone.answer().isEmpty) }
            }
        }
    }
}
