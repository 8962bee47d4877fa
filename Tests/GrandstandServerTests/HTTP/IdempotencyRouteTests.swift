internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// `Idempotency-Key`, route by route. EndToEndTests test concurrent requests.
struct IdempotencyRouteTests {
    /// Work that calls Apple has several steps. All other work is done in one transaction, which also stores the
    /// answer.
    private static let inSteps: Set<String> = ["createChannel", "importChannel", "reconcile"]
    /// Repeating these operations has no second effect, so their answers are not stored. One of them is called with
    /// keys that anybody may have.
    private static let unkept = ["lookupMany", "previewBroadcast", "previewState"]
    /// Only the first answer of these operations has a secret.
    private static let issuing = ["createKey", "createWebhook", "rotateKey", "rotateWebhookSecret"]
    private static let headers = ["Idempotency-Key": "k"]

    @Test func `every POST with an effect repeats its first answer`() async throws {
        let posts = Contract.Operation.all.filter { $0.method == "POST" }
        #expect(posts.filter { !$0.keepsAnswers }.map(\.id).sorted() == Self.unkept)
        #expect(Self.inSteps.isSubset(of: posts.map(\.id)))
        #expect(Contract.Operation.all.filter { $0.shownOnce == "secret" }.map(\.id).sorted() == Self.issuing)
        for operation in Contract.Operation.all where operation.keepsAnswers {
            let answer: @Sendable (IdempotentRequest) throws -> IdempotentOutcome = { request in
                guard request.key == "k", request.caller == RouteWorld.keys["gs_admin"]?.id,
                    request.shownOnce == operation.shownOnce,
                    request.content == Array("POST \(operation.sample)\n{}".utf8)
                else { throw Unasked() }
                return IdempotentOutcome(answer: KeptAnswer(status: 201, body: Array("[1]".utf8)), isReplay: true)
            }
            var world = RouteWorld()
            if Self.inSteps.contains(operation.id) {
                world.idempotency.stepwise = { request, _, _ in try answer(request) }
            } else {
                world.idempotency.atOnce = { request, _ in try answer(request) }
            }
            let again = try await world("POST", operation.sample, "{}", headers: Self.headers)
            #expect(again.status == 201, "\(operation.id): \(again.text)")
            #expect(again.text == "[1]", "\(operation.id)")
            #expect(again.headers[.contentType] == "application/json", "\(operation.id)")
            #expect(again.headers[.idempotentReplayed] == "true", "\(operation.id)")
        }
    }

    /// With the real store. A repetition of a refused request is carried out, also if it has another body.
    @Test func `a refusal of a body, a request or a whole batch is not stored, and the first success is`() async throws
    {
        try await withRoutes { world in
            let store = PostgresIdempotencyStore(world.database)
            world.idempotency.atOnce = { request, work in
                try await store.once(request, now: RouteWorld.now, work: work)
            }
            let isRefused = Mutex(true)
            let lookup = try #require(RouteWorld.keys["gs_lookup"])
            world.ledger.create = { _ in
                if isRefused.withLock({ $0 }) { throw Problem(.storeUnavailable, "It is away.") }
                return IssuedKey(key: lookup, secret: "gs_\(UUID())")
            }
            world.outbox.take = { intakes in
                intakes.map { intake in
                    guard !isRefused.withLock({ $0 }), intake.request.payload.event == .update else {
                        return .failure(Problem(.eventNotFound, "Create it first."))
                    }
                    return .success(
                        Broadcast(
                            id: UUID(), eventKey: Sample.derby, event: .update, acceptedAt: RouteWorld.now,
                            sendAt: nil, isScheduled: false, deliveries: [], warnings: []))
                }
            }
            let routes = world
            let key = #"{"name": "new", "scopes": ["lookup"]}"#
            let items = ["update", "end"].map { #"{"eventKey": "derby", "event": "\#($0)", "contentState": {}}"# }
            let batch = #"{"items": [\#(items.joined(separator: ","))]}"#
            func call(_ path: String, _ body: String) async throws -> RouteWorld.Answer {
                try await routes("POST", path, body, headers: ["Idempotency-Key": path])
            }
            #expect(try await call("/v1/keys", "{}").status == 422)
            #expect(try await call("/v1/keys", key).status == 503)
            #expect(try await call("/v1/broadcasts", batch).status == 202)
            isRefused.withLock { $0 = false }
            for (path, body, status) in [("/v1/keys", key, 201), ("/v1/broadcasts", batch, 202)] {
                let (first, again) = (try await call(path, body), try await call(path, body))
                #expect(first.status == status && first.headers[.idempotentReplayed] == nil, "\(first.text)")
                #expect(again.status == status && again.headers[.idempotentReplayed] == "true", "\(again.text)")
                if let secret = first.json["secret"] as? String {
                    #expect(again.json["id"] as? String == first.json["id"] as? String)
                    #expect((again.json["warnings"] as? [String])?.count == 1 && !again.text.contains(secret))
                } else {
                    #expect(again.text == first.text)
                }
            }
        }
    }

    @Test(arguments: ["", String(repeating: "x", count: 256), "a\tb"])
    func `an invalid key is refused`(name: String) async throws {
        let answer = try await RouteWorld()("POST", "/v1/keys", "{}", headers: ["Idempotency-Key": name])
        #expect(answer.status == 422)
        #expect(answer.pointers == ["Idempotency-Key"])
    }
}
