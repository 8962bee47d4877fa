internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Hummingbird
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct IdempotencyTests {
    private static func request(_ at: Date, _ content: String = "POST /x {}") -> IdempotentRequest {
        IdempotentRequest(
            caller: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), key: "k",
            content: Array(content.utf8), at: at)
    }

    private static func answer(_ text: String, status: HTTPResponse.Status = .accepted) -> Response {
        .json(bytes: Array(text.utf8), status: status)
    }

    /// The status of an answer, its text, and whether it is a repetition.
    private static func parts(_ answer: Response) async throws -> [String] {
        ["\(answer.status.code)", String(decoding: try await answer.bytes(), as: UTF8.self), "\(answer.isReplay)"]
    }

    /// Registers an app, whose row shows that the work was done.
    private static func work(_ stores: StoreWorld, _ name: String = "com.example.Goal") async throws -> Response {
        _ = try await stores.apps.put(.sample(name))
        return answer(UUID().uuidString)
    }

    @Test func `after a refusal one of several concurrent duplicates is carried out, and the others get its answer`()
        async throws
    {
        try await withStores { stores in
            let replicas = (0..<2).map { _ in IdempotencyStore(database: Database(stores.pool)) }
            let counts = Tally()
            let outcomes = try await concurrently(20) { n -> Response? in
                do {
                    return try await replicas[n % 2].once(Self.request(stores.now)) {
                        counts.add("tries")
                        // Only the first five tries have a reason to be refused.
                        guard counts["tries"] > 5 else { throw Problem(.eventNotFound, "Create it first.") }
                        counts.add("done")
                        return try await Self.work(stores)
                    }
                } catch let problem as Problem where problem.kind == .eventNotFound { return nil }
            }
            #expect(outcomes.count { $0 == nil } == 5)
            var bodies: Set<[UInt8]> = []
            for outcome in outcomes { if let outcome { bodies.insert(try await outcome.bytes()) } }
            #expect(bodies.count == 1)
            #expect(outcomes.count { $0?.isReplay == false } == 1)
            #expect(counts.all == ["tries": 6, "done": 1])
        }
    }

    @Test func `another body with the same key is refused, and each caller has its own keys`() async throws {
        try await withStores { stores in
            let store = IdempotencyStore(database: Database(stores.pool))
            _ = try await store.once(Self.request(stores.now)) { try await Self.work(stores) }
            let kind = try await problem {
                try await store.once(Self.request(stores.now, "POST /x {\"a\":1}")) {
                    try await Self.work(stores)
                }
            }
            #expect(kind == .idempotencyMismatch)
            var other = Self.request(stores.now)
            other.caller = UUID()
            let outcome = try await store.once(other) { try await Self.work(stores) }
            #expect(!outcome.isReplay)
        }
    }

    @Test func `after a day a key is free again and is removed`() async throws {
        try await withStores { stores in
            let store = IdempotencyStore(database: Database(stores.pool))
            _ = try await store.once(Self.request(stores.now)) { try await Self.work(stores) }
            let dayLater = stores.now + 86_401
            let outcome = try await store.once(Self.request(dayLater, "other")) {
                try await Self.work(stores)
            }
            #expect(!outcome.isReplay)
            let history = stores.history
            #expect(try await history.prune("kept answers", before: dayLater, limit: 10) == 0)
            #expect(try await history.prune("kept answers", before: dayLater + 1, limit: 10) == 1)
        }
    }

    @Test func `a secret is only in the first answer, and never in the database`() async throws {
        try await withStores { stores in
            let store = IdempotencyStore(database: Database(stores.pool))
            var request = Self.request(stores.now)
            request.secretName = "secret"
            let made = Self.answer(#"{"id":"1","secret":"gs_new","name":"é"}"#, status: .created)
            let first = try await store.once(request) { made }
            #expect(try await Self.parts(first) == Self.parts(made))
            let row = try #require(
                try await stores.pool.query("select convert_from(body, 'utf8') as body from idempotency_keys").first)
            let body: String = try row.decode("body")
            #expect(body.hasPrefix(#"{"id":"1","name":"é","warnings":["The secret was shown once"#))
            let again = try await store.once(request) { try await Self.work(stores) }
            #expect(try await Self.parts(again) == ["201", body, "true"])
        }
    }

    // MARK: In steps

    @Test func `after a crash a repetition learns what was begun`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let store = IdempotencyStore(database: Database(stores.pool))
            let request = Self.request(stores.now)
            // The process that began the request has crashed. The request's row says what the process created.
            let id = try await IdempotentRequest.$current.withValue(request) {
                try await stores.reserve().channel.id
            }
            let early = try await problem {
                try await store.inSteps(
                    Self.request(stores.now), recall: { _ in throw Problem.inProgress },
                    work: { try await Self.work(stores) })
            }
            #expect(early == .idempotencyInProgress)
            // A process that looked before the crashed one began must not begin again.
            let second = try await problem {
                try await IdempotentRequest.$current.withValue(request) { try await stores.reserve().channel.id }
            }
            #expect(second == .idempotencyInProgress)
            let outcome = try await store.inSteps(
                Self.request(stores.now + 61), recall: { Self.answer($0.uuidString, status: .created) },
                work: { try await Self.work(stores) })
            #expect(try await Self.parts(outcome) == ["201", id.uuidString, "true"])
            let third = try await store.inSteps(
                Self.request(stores.now + 61), recall: { _ in nil }, work: { try await Self.work(stores) })
            #expect(try await Self.parts(third) == Self.parts(outcome))
        }
    }
}

extension Response {
    fileprivate var isReplay: Bool { headers[.idempotentReplayed] == "true" }
}

/// `Idempotency-Key`, route by route. EndToEndTests test concurrent requests.
@Suite(.database)
struct IdempotencyRouteTests {
    /// Repeating these operations has no second effect, so their answers are not stored. One of them is called with
    /// keys that anybody may have.
    private static let unkept = ["lookupMany", "previewBroadcast", "previewState"]
    /// Only the first answer of these operations has a secret.
    private static let issuing = ["createKey", "createWebhook", "rotateKey", "rotateWebhookSecret"]

    @Test func `every POST with an effect repeats its first answer`() async throws {
        let posts = Contract.Operation.all.filter { $0.method == "POST" }
        #expect(posts.filter { !$0.keepsAnswers }.map(\.id).sorted() == Self.unkept)
        #expect(Contract.Operation.all.filter { $0.shownOnce == "secret" }.map(\.id).sorted() == Self.issuing)
        let (world, admin) = (RouteWorld(), try #require(RouteWorld.keys["gs_admin"]))
        let store = IdempotencyStore(database: world.database)
        for operation in Contract.Operation.all where operation.keepsAnswers {
            let body = "{}"
            let first = IdempotentRequest(
                caller: admin.id, key: operation.id, content: Array("POST \(operation.sample)\n\(body)".utf8),
                at: RouteWorld.now)
            _ = try await store.once(first) {
                .json(bytes: Array("[1]".utf8), status: .created)
            }
            let again = try await world("POST", operation.sample, body, headers: ["Idempotency-Key": operation.id])
            #expect(again.status == 201, "\(operation.id): \(again.text)")
            #expect(again.text == "[1]", "\(operation.id)")
            #expect(again.headers[.contentType] == "application/json", "\(operation.id)")
            #expect(again.headers[.idempotentReplayed] == "true", "\(operation.id)")
        }
    }

    /// A repetition of a refused request is carried out, also if it has another body.
    @Test func `a refusal of a body, a request or a whole batch is not stored, and the first success is`() async throws
    {
        let world = RouteWorld()
        func call(_ path: String, _ body: String) async throws -> RouteWorld.Answer {
            try await world("POST", path, body, headers: ["Idempotency-Key": path])
        }
        let key = #"{"name": "new", "scopes": ["lookup"], "bundleId": "com.example.Stadium"}"#
        let item = #"{"eventKey": "derby", "event": "update", "contentState": {}}"#
        let batch = #"{"items": [\#(item), \#(item)]}"#
        #expect(try await call("/v1/keys", "{}").status == 422)
        #expect(try await call("/v1/keys", key).slug == "app-not-found")
        #expect(try await call("/v1/broadcasts", batch).status == 202)
        try await world.rows.open("derby", audiences: [.sample("com.example.Stadium")])
        for (path, body, status) in [("/v1/keys", key, 201), ("/v1/broadcasts", batch, 202)] {
            let (first, again) = (try await call(path, body), try await call(path, body))
            #expect(first.status == status && first.headers[.idempotentReplayed] == nil, "\(first.text)")
            #expect(again.status == status && again.headers[.idempotentReplayed] == "true", "\(again.text)")
            // Only a first answer has a secret.
            #expect(path == "/v1/keys" || again.text == first.text)
        }
    }

    @Test(arguments: ["", String(repeating: "x", count: 256), "a\tb"])
    func `an invalid key is refused`(name: String) async throws {
        let answer = try await RouteWorld()("POST", "/v1/keys", "{}", headers: ["Idempotency-Key": name])
        #expect(answer.status == 422)
        #expect(answer.pointers == ["Idempotency-Key"])
    }
}
