internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PortFakes
internal import Testing

@testable internal import GrandstandAPI

/// Pages beside the API: they answer for themselves, and have around them what every request has.
struct MountedPageTests {
    /// A page that says whose key the header `X-Key` has.
    private static func world(_ limits: RateLimits.Settings) -> RouteWorld {
        var world = RouteWorld()
        world.limits = RateLimits(limits)
        world.pages = MountedPages(path: "/pages") { request, _, door in
            let secret = HTTPField.Name("X-Key").flatMap { request.headers[$0] }
            guard let secret else { return Response(status: .ok, headers: [.cacheControl: "max-age=1"]) }
            return Response(status: .ok, headers: [.location: try await door.identify(secret).scopes.description])
        }
        return world
    }

    private static let unlimited = RateLimits.Settings(requests: nil, lookups: nil, failures: nil)

    @Test func `the path and all below it is theirs, without a key of the API`() async throws {
        let world = Self.world(Self.unlimited)
        for (method, path) in [
            ("GET", "/pages"), ("GET", "/pages/a/b?c=d"), ("POST", "/pages/a"), ("HEAD", "/pages/a"),
        ] {
            let answer = try await world(method, path, as: nil)
            #expect(answer.status == 200, "\(method) \(path)")
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            #expect(answer.headers[.xRequestID] != nil)
            #expect(answer.headers[.cacheControl] == "max-age=1")
        }
        #expect(try await world("GET", "/pagesx", as: nil).status == 404)
    }

    @Test func `a key is found as the API finds it, and wrong ones count with the API's`() async throws {
        let world = Self.world(.init(requests: 1, lookups: nil, failures: 3))
        let known = try await world("GET", "/pages", headers: ["X-Key": "gs_operate"], as: nil)
        #expect(known.headers[.location]?.contains("operate") == true)
        #expect(known.headers[HTTPField.Name("RateLimit-Limit")!] == "2")
        for _ in 0..<2 {
            let answer = try await world("GET", "/pages", headers: ["X-Key": "gs_guess"], as: nil)
            #expect(answer.slug == "unauthenticated")
        }
        #expect(try await world("GET", "/v1/apps", as: "gs_guess").status == 401)
        let limited = try await world("GET", "/pages", headers: ["X-Key": "gs_guess"], as: nil)
        #expect(limited.status == 429)
        #expect(limited.headers[.retryAfter] != nil)
        // A caller with a key is let in.
        #expect(try await world("GET", "/pages", headers: ["X-Key": "gs_operate"], as: nil).status == 200)
    }

    /// A page that makes the call its headers name, in a session of the key `X-Key` has.
    private static func caller(_ world: RouteWorld) -> RouteWorld {
        var world = world
        world.pages = MountedPages(path: "/pages") { request, _, door in
            func header(_ name: String) -> String { HTTPField.Name(name).flatMap { request.headers[$0] } ?? "" }
            let key = try #require(RouteWorld.keys[header("X-Key")])
            var fields: HTTPFields = [.contentType: "application/json"]
            if !header("X-Once").isEmpty { fields[.idempotencyKey] = header("X-Once") }
            let call = Request(
                head: HTTPRequest(
                    method: HTTPRequest.Method(header("X-Method")) ?? .get, scheme: nil, authority: nil,
                    path: header("X-Call"), headerFields: fields),
                body: RequestBody(buffer: ByteBuffer(string: header("X-Body"))))
            let (head, body) = try await door.call(call, in: PageSession(key: key, secret: "session"))
            return Response(status: head.status, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        }
        return world
    }

    @Test func `a call in a session is the API's own, as its key and no more`() async throws {
        var world = RouteWorld()
        world.ledger.create = { draft in
            IssuedKey(
                key: APIKey(
                    id: UUID(), name: draft.name, scopes: draft.scopes, reach: draft.reach, prefix: "gs_",
                    createdAt: RouteWorld.now, revokedAt: nil), secret: "gs_new")
        }
        let body = #"{"name": "TV", "scopes": ["lookup"]}"#
        let make = ["X-Method": "POST", "X-Call": "/v1/keys", "X-Body": body]
        func call(_ key: String, _ more: [String: String] = [:]) async throws -> RouteWorld.Answer {
            let headers = make.merging(more) { $1 }.merging(["X-Key": key]) { $1 }
            return try await Self.caller(world)("GET", "/pages", headers: headers, as: nil)
        }
        #expect(try await call("gs_admin").status == 201)
        #expect(try await call("gs_admin").json["secret"] as? String == "gs_new")
        #expect(try await call("gs_operate").slug == "forbidden")
        // A key of one app makes none of all.
        #expect(try await call("gs_stadium_admin").slug == "forbidden")
        #expect(try await call("gs_admin", ["X-Body": #"{"nme": ""}"#]).status == 422)
        #expect(try await call("gs_admin", ["X-Call": "/pages"]).status == 404)
        // What is kept of an answer is sealed with the session's secret.
        world.idempotency.atOnce = { request, _ in
            #expect(request.secret == "session" && request.key == "once")
            return IdempotentOutcome(answer: KeptAnswer(status: 201, body: Array("{}".utf8)), isReplay: true)
        }
        #expect(try await call("gs_admin", ["X-Once": "once"]).status == 201)
    }

    @Test func `what was kept for a session whose key is over is its own still, and nothing is carried out`()
        async throws
    {
        let key = UUID()
        var world = RouteWorld()
        world.pages = MountedPages(path: "/pages") { request, _, door in
            var fields: HTTPFields = [:]
            fields[.idempotencyKey] = request.headers[.idempotencyKey]
            let call = Request(
                head: HTTPRequest(
                    method: .post, scheme: nil, authority: nil, path: "/v1/keys/1/rotations", headerFields: fields),
                body: RequestBody(buffer: ByteBuffer(string: "{}")))
            let (head, body) = try await door.kept(call, of: key, secret: "session")
            return Response(status: head.status, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        }
        world.idempotency.atOnce = { request, work in
            #expect(request.caller == key && request.secret == "session")
            #expect(String(decoding: request.content, as: UTF8.self) == "POST /v1/keys/1/rotations\n{}")
            guard request.key == "kept" else {
                return IdempotentOutcome(answer: try await work(), isReplay: false)
            }
            return IdempotentOutcome(answer: KeptAnswer(status: 201, body: Array("{}".utf8)), isReplay: true)
        }
        #expect(try await world("GET", "/pages", headers: ["Idempotency-Key": "kept"], as: nil).status == 201)
        #expect(try await world("GET", "/pages", headers: ["Idempotency-Key": "other"], as: nil).status == 401)
        #expect(try await world("GET", "/pages", as: nil).status == 401)
    }
}
