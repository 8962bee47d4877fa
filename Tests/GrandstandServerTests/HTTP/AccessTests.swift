internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import Testing

@testable internal import GrandstandServer

/// Checks of keys and scopes before a route, for every operation of the contract. A refused request calls no port.
struct AccessTests {
    /// An operation that is not in the contract.
    private static let it = Contract.Operation(
        "it", "GET", "/v1/apps/{bundleId}/it", scopes: [], query: [], keepsAnswers: false)

    @Test(.database) func `a route needs a key with its scope`() async throws {
        let world = try RouteWorld().kept()
        for operation in Contract.Operation.all {
            guard let scopes = operation.scopes?.map(\.rawValue) else { continue }
            for secret in [nil, "", "gs_wrong", "gs_adminx"] {
                let answer = try await world(operation.method, operation.sample, as: secret)
                #expect(answer.status == 401 && answer.slug == "unauthenticated", "\(operation.id)")
                #expect(answer.headers[.wwwAuthenticate] == "Bearer")
            }
            for scope in Contract.Scope.allCases {
                let answer = try await world(operation.method, operation.sample, as: "gs_\(scope.rawValue)")
                // Such a key reads the entries of one event, and this request names none.
                if operation == .listAuditLog, scope == .organise {
                    #expect(answer.status == 403 && answer.detail.hasSuffix("add ?event=KEY."))
                    continue
                }
                // A key with the scope device may use lookups, but not the operations that every other key may use.
                let mayPass =
                    scopes.isEmpty
                    ? scope != .device
                    : scope == .admin || scopes.contains(scope.rawValue)
                        || scope == .device && scopes == ["lookup"]
                #expect(
                    mayPass == (answer.slug != "forbidden"), "\(operation.id) with \(scope.rawValue): \(answer.text)")
                guard !mayPass else { continue }
                #expect(answer.status == 403, "\(operation.id) with \(scope.rawValue)")
                guard !scopes.isEmpty else {
                    #expect(answer.detail.hasSuffix("for installations of its app and for lookups only."))
                    continue
                }
                let words = scopes.sorted().joined(separator: " or ")
                #expect(answer.detail.hasSuffix("does not hold the scope \(words)."), "\(operation.id)")
            }
        }
    }

    @Test func `a key of one app cannot use a path with another app`() async throws {
        var count = 0
        let world = try RouteWorld().kept()
        for operation in Contract.Operation.all where operation.path.contains("{bundleId}") {
            let path = operation.sample.replacingOccurrences(of: "com.example.Stadium", with: "com.example.Other")
            let answer = try await world(operation.method, path, as: "gs_stadium_admin")
            #expect(answer.status == 403, "\(operation.id)")
            #expect(answer.detail.contains("com.example.Stadium only"), "\(operation.id)")
            count += 1
        }
        #expect(count > 10)
    }

    @Test func `an unknown query parameter is refused with the known ones`() async throws {
        let world = try RouteWorld().kept()
        for operation in Contract.Operation.all where operation.scopes != nil {
            let answer = try await world(operation.method, operation.sample + "?nonsense=1")
            #expect(answer.slug == "unknown-field", "\(operation.id)")
            #expect(answer.pointers == ["nonsense"], "\(operation.id)")
            for name in operation.query { #expect(answer.text.contains(name), "\(operation.id)") }
        }
    }

    @Test func `a key beyond its rate limit is told when to retry, and another key is served`() async throws {
        var world = RouteWorld(others: [Route(Self.it) { _, _ in .noContent }])
        world.limits = RateLimits(requests: 0.05, failures: nil)
        let path = "/v1/apps/com.example.Stadium/it"
        #expect(try await world("GET", path).status == 204)
        let second = try await world("GET", path)
        #expect(second.slug == "rate-limited" && second.status == 429)
        #expect(second.detail.contains("may make 0.05 requests a second here, 1 at once"))
        #expect(second.headers[.retryAfter] == "20" && second.headers[HTTPField.Name("RateLimit-Reset")!] == "20")
        #expect(try await world("GET", path, as: "gs_operate").status == 204)
    }

    @Test func `a key of one app passes for that app only, however its name is written`() async throws {
        let world = RouteWorld(others: [Route(Self.it) { _, _ in .noContent }])
        for path in ["com.example.Stadium", "com.example.stadium", "com%2Eexample%2EStadium"] {
            #expect(try await world("GET", "/v1/apps/\(path)/it", as: "gs_stadium").status == 204, "\(path)")
        }
    }

    @Test func `a valid request ID is returned in headers and problems, and an invalid one is replaced`() async throws {
        let world = RouteWorld()
        let named = try await world("GET", "/v1/nothing", headers: ["X-Request-Id": "trace-1/2"])
        #expect(named.headers[.xRequestID] == "trace-1/2")
        #expect(named.json["requestId"] as? String == "trace-1/2")
        for bad in ["a b", "<x>", String(repeating: "x", count: 129)] {
            let answer = try await world("GET", "/v1/nothing", headers: ["X-Request-Id": bad])
            let name = try #require(answer.headers[.xRequestID])
            #expect(name != bad)
            #expect(answer.json["requestId"] as? String == name)
        }
        #expect(named.headers[.xContentTypeOptions] == "nosniff")
        #expect(named.headers[.cacheControl] == "no-store")
        #expect(named.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
    }

    @Test func `pages own their path and everything below it, without an API key`() async throws {
        var world = RouteWorld()
        world.pages = { _, _ in Response(status: .ok, headers: [.cacheControl: "max-age=1"]) }
        for (method, path) in [
            ("GET", "/console"), ("GET", "/console/a/b?c=d"), ("POST", "/console/a"), ("HEAD", "/console/a"),
        ] {
            let answer = try await world(method, path, as: nil)
            #expect(answer.status == 200, "\(method) \(path)")
            #expect(answer.headers[.xContentTypeOptions] == "nosniff" && answer.headers[.xRequestID] != nil)
            #expect(answer.headers[.cacheControl] == "max-age=1")
        }
        #expect(try await world("GET", "/consolex", as: nil).status == 404)
    }

    @Test(arguments: ["/openapi.yaml", "/v1/nothing", "/v1/apps/com.example.Stadium/it"])
    func `HEAD answers as GET does, without the body`(path: String) async throws {
        let world = RouteWorld(others: [
            Route(Self.it) { _, _ in throw Problem(.notFound, "It is not there.") }
        ])
        // The body contains the request ID, whose length varies if the server made it.
        let named = ["X-Request-Id": "head"]
        let (get, head) = (
            try await world("GET", path, headers: named), try await world("HEAD", path, headers: named)
        )
        #expect(head.status == get.status && head.body.isEmpty && !get.body.isEmpty)
        #expect(head.headers[.contentType] == get.headers[.contentType])
        #expect(head.headers[.contentLength] == get.headers[.contentLength])
        #expect(try await world("HEAD", "/v1/apps/com.example.Stadium/it", as: nil).status == 401)
    }

    @Test(arguments: [
        ("POST", "/v1/events/derby", ["DELETE", "GET", "HEAD", "PATCH", "PUT"]),
        ("DELETE", "/v1/apps", ["GET", "HEAD"]), ("PUT", "/v1/events/derby/broadcasts", ["GET", "HEAD", "POST"]),
        ("POST", "/openapi.yaml", ["GET", "HEAD"]), ("HEAD", "/v1/broadcasts", ["POST"]),
    ])
    func `a wrong method is answered with the right ones`(
        method: String, path: String, allowed: [String]
    ) async throws {
        let answer = try await RouteWorld()(method, path)
        #expect(answer.status == 405)
        // An answer to HEAD has no body, so it cannot give the reason.
        #expect(answer.slug == (method == "HEAD" ? nil : "method-not-allowed"))
        #expect(answer.headers[.allow]?.split(separator: ", ").map(String.init).sorted() == allowed)
    }
}
