internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

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
            let first = IdempotentRequest(
                caller: admin.id, key: operation.id, content: Array("POST \(operation.sample)\n{}".utf8))
            _ = try await store.once(first, now: RouteWorld.now) {
                KeptAnswer(status: 201, body: Array("[1]".utf8))
            }
            let again = try await world("POST", operation.sample, "{}", headers: ["Idempotency-Key": operation.id])
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
            if let secret = first.json["secret"] as? String {
                #expect(again.json["id"] as? String == first.json["id"] as? String)
                #expect((again.json["warnings"] as? [String])?.count == 1 && !again.text.contains(secret))
            } else {
                #expect(again.text == first.text)
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
