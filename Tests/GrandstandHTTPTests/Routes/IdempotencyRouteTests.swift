internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// `Idempotency-Key`, route by route. EndToEndTests test concurrent requests.
struct IdempotencyRouteTests {
    /// Work that calls Apple has several steps. All other work is done in one transaction, which also stores the
    /// answer.
    private static let inSteps: Set<String> = ["createChannel", "importChannel", "reconcile"]
    /// Repeating these operations has no second effect, so their answers are not stored. Two of them are called with
    /// keys that anybody may have.
    private static let unkept = ["lookupMany", "previewBroadcast", "previewState", "recordReceipts"]
    private static let headers = ["Idempotency-Key": "k"]

    @Test func `every POST with an effect repeats its first answer`() async throws {
        let posts = Contract.Operation.all.filter { $0.method == "POST" }
        #expect(posts.filter { !$0.keepsAnswers }.map(\.id).sorted() == Self.unkept)
        #expect(Self.inSteps.isSubset(of: posts.map(\.id)))
        for operation in Contract.Operation.all where operation.keepsAnswers {
            let answer: @Sendable (IdempotentRequest) throws -> IdempotentOutcome = { request in
                guard request.key == "k", request.caller == RouteWorld.keys["gs_admin"]?.id,
                    request.secret == "gs_admin", request.content == Array("POST \(operation.sample)\n{}".utf8)
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

    @Test func `the answer to a success is stored`() async throws {
        var world = RouteWorld()
        world.idempotency.atOnce = { _, work in IdempotentOutcome(answer: try await work(), isReplay: false) }
        world.ledger.create = { draft in
            IssuedKey(key: RouteWorld.keys["gs_lookup"] ?? Sample.known(nil), secret: "gs_\(draft.name)")
        }
        let made = try await world(
            "POST", "/v1/keys", #"{"name": "new", "scopes": ["lookup"]}"#, headers: Self.headers)
        #expect(made.status == 201)
        #expect(made.json["secret"] as? String == "gs_new")
        #expect(made.headers[.idempotentReplayed] == nil)
    }

    @Test(arguments: [
        Problem(.storeUnavailable, "It is away."), Problem(.channelPending, "Ask again.", retryAfter: 2),
        Problem(.eventNotFound, "Create it first."), Problem(.eventEnded, "Reopen it."),
    ])
    func `a refusal is not stored`(problem: Problem) async throws {
        var world = RouteWorld()
        world.idempotency.atOnce = { _, work in
            await #expect(throws: problem) { try await work() }
            throw problem
        }
        world.ledger.create = { _ in throw problem }
        let answer = try await world(
            "POST", "/v1/keys", #"{"name": "new", "scopes": ["lookup"]}"#, headers: Self.headers)
        #expect(answer.status == problem.status)
        #expect(answer.headers[.contentType] == "application/problem+json")
    }

    @Test func `the refusal of a body is not stored`() async throws {
        var world = RouteWorld()
        world.idempotency.atOnce = { _, work in
            await #expect(throws: Problem.self) { try await work() }
            throw Problem(.invalidRequest, "As it was thrown.")
        }
        #expect(try await world("POST", "/v1/keys", "{}", headers: Self.headers).status == 422)
    }

    @Test(arguments: [false, true]) func `the answer to a batch is stored if one item was accepted`(isAccepted: Bool)
        async throws
    {
        var world = RouteWorld()
        world.idempotency.atOnce = { _, work in
            do {
                let outcome = IdempotentOutcome(answer: try await work(), isReplay: false)
                #expect(isAccepted)
                return outcome
            } catch {
                #expect(!isAccepted)
                throw error
            }
        }
        world.outbox.take = { intakes in
            intakes.map { intake in
                guard isAccepted, intake.request.payload.event == .update else {
                    return .failure(Problem(.eventNotFound, "Create it first."))
                }
                return .success(
                    Broadcast(
                        id: Sample.id, eventKey: EventKey(rawValue: "derby"), event: .update,
                        acceptedAt: RouteWorld.now,
                        sendAt: nil, isScheduled: false, deliveries: [], warnings: []))
            }
        }
        let items = ["update", "end"].map { #"{"eventKey": "derby", "event": "\#($0)", "contentState": {}}"# }
        let answer = try await world(
            "POST", "/v1/broadcasts", Array(#"{"items": [\#(items.joined(separator: ","))]}"#.utf8),
            headers: Self.headers)
        #expect(answer.status == 202, "\(answer.text)")
        #expect((answer.json["items"] as? [Any])?.count == 2)
    }

    @Test(arguments: ["", String(repeating: "x", count: 256), "a\tb"])
    func `an invalid key is refused`(name: String) async throws {
        let answer = try await RouteWorld()("POST", "/v1/keys", "{}", headers: ["Idempotency-Key": name])
        #expect(answer.status == 422)
        #expect(answer.pointers == ["Idempotency-Key"])
    }
}
