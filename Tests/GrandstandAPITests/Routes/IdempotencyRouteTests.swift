internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandAPI

/// `Idempotency-Key`, route by route. That requests at the same time are one, EndToEndTests show.
struct IdempotencyRouteTests {
    /// Work that calls Apple goes in steps; all other work is one transaction with its answer.
    private static let inSteps: Set<String> = [
        "/v1/apps/{bundleId}/{environment}/channels", "/v1/apps/{bundleId}/{environment}/channels/import",
        "/v1/apps/{bundleId}/{environment}/reconciliations",
    ]
    private static let lookups = "/v1/lookup/{bundleId}/{environment}"
    /// Calls with a key that strangers have: what they send along is not even read.
    private static let unkept: Set<String> = [
        lookups, "/v1/apps/{bundleId}/{environment}/installations/{installationId}/receipts",
    ]
    private static let headers = ["Idempotency-Key": "k"]

    @Test func `every POST that changes something gives its first answer again`() async throws {
        // A preview changes nothing.
        let posts = try await Contract.operations().filter { operation in
            operation.method == "POST" && !Self.unkept.contains(operation.path) && !operation.path.hasSuffix("/preview")
        }
        #expect(posts.count > 10)
        #expect(Self.inSteps.isSubset(of: posts.map(\.path)))
        for operation in posts {
            let answer: @Sendable (IdempotentRequest) throws -> IdempotentOutcome = { request in
                guard request.key == "k", request.caller == RouteWorld.keys["gs_admin"]?.id,
                    request.secret == "gs_admin", request.content == Array("POST \(operation.sample)\n{}".utf8)
                else { throw Unasked() }
                return IdempotentOutcome(answer: KeptAnswer(status: 201, body: Array("[1]".utf8)), isReplay: true)
            }
            var world = RouteWorld()
            if Self.inSteps.contains(operation.path) {
                world.idempotency.stepwise = { request, _, _ in try answer(request) }
            } else {
                world.idempotency.atOnce = { request, _ in try answer(request) }
            }
            let again = try await world("POST", operation.sample, "{}", headers: Self.headers)
            #expect(again.status == 201, "\(operation): \(again.text)")
            #expect(again.text == "[1]", "\(operation)")
            #expect(again.headers[.contentType] == "application/json", "\(operation)")
            #expect(again.headers[.idempotentReplayed] == "true", "\(operation)")
        }
    }

    /// A world that keeps nothing, and says what it was given to keep.
    private static func world(_ isKept: @escaping @Sendable (IdempotentResult) -> Bool) -> RouteWorld {
        var world = RouteWorld()
        world.idempotency.atOnce = { _, work in
            let result = try await work()
            guard isKept(result) else { throw Unasked() }
            return IdempotentOutcome(answer: result.answer, isReplay: false)
        }
        return world
    }

    @Test func `what was done is kept, and a refusal for good, too`() async throws {
        var world = Self.world { if case .done = $0 { true } else { false } }
        world.ledger.create = { draft in
            IssuedKey(key: RouteWorld.keys["gs_lookup"] ?? Sample.known(nil), secret: "gs_\(draft.name)")
        }
        let made = try await world(
            "POST", "/v1/keys", #"{"name": "new", "scopes": ["lookup"]}"#, headers: Self.headers)
        #expect(made.status == 201)
        #expect(made.json["secret"] as? String == "gs_new")
        #expect(made.headers[.idempotentReplayed] == nil)
        world = Self.world { if case .refused = $0 { true } else { false } }
        let refused = try await world("POST", "/v1/keys", "{}", headers: Self.headers)
        #expect(refused.status == 422)
        #expect(refused.headers[.contentType] == "application/problem+json")
    }

    @Test(arguments: [
        Problem(.storeUnavailable, "It is away."), Problem(.channelPending, "Ask again.", retryAfter: 2),
    ])
    func `what may succeed later is not kept`(problem: Problem) async throws {
        var world = Self.world { _ in true }
        world.idempotency.atOnce = { _, work in
            await #expect(throws: problem) { try await work() }
            throw problem
        }
        world.ledger.create = { _ in throw problem }
        let answer = try await world(
            "POST", "/v1/keys", #"{"name": "new", "scopes": ["lookup"]}"#, headers: Self.headers)
        #expect(answer.status == problem.kind.status.code)
    }

    @Test(arguments: ["", String(repeating: "x", count: 256), "a\tb"])
    func `a name that is none is refused`(name: String) async throws {
        let answer = try await RouteWorld()("POST", "/v1/keys", "{}", headers: ["Idempotency-Key": name])
        #expect(answer.status == 422)
        #expect(answer.pointers == ["Idempotency-Key"])
    }
}
