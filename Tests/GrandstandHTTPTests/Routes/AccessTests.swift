internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import Testing

@testable internal import GrandstandHTTP

/// Checks of keys and scopes before a route. The contract says which scope an operation needs.
struct AccessTests {
    private static let scopes: [[Contract.Scope]] = [[], [.organise, .operate]] + Contract.Scope.allCases.map { [$0] }

    /// An operation that is not in the contract, with these scopes.
    private static func it(_ scopes: [Contract.Scope]) -> Contract.Operation {
        Contract.Operation("it", "GET", "/v1/apps/{bundleId}/it", scopes: scopes, query: [], keepsAnswers: false)
    }

    private static func world(_ scopes: [Contract.Scope]) -> RouteWorld {
        RouteWorld(others: [Route(it(scopes)) { _, _ in .noContent }])
    }

    @Test(arguments: scopes)
    func `a route wants a key that holds its scope`(scopes: [Contract.Scope]) async throws {
        let world = Self.world(scopes)
        let wanted = scopes.map(\.rawValue)
        let path = "/v1/apps/com.example.Stadium/it"
        for secret in [nil, "", "gs_wrong", "gs_adminx"] {
            let answer = try await world("GET", path, as: secret)
            #expect(answer.status == 401, "\(secret ?? "no key")")
            #expect(answer.slug == "unauthenticated")
            #expect(answer.headers[.wwwAuthenticate] == "Bearer")
        }
        for scope in APIKey.Scope.allCases {
            // A device key may use the operations for devices, and lookups.
            let mayPass =
                wanted.isEmpty
                ? scope != .device
                : wanted.contains(scope.rawValue) || scope == .admin || scope == .device && wanted == ["lookup"]
            let answer = try await world("GET", path, as: "gs_\(scope.rawValue)")
            #expect(answer.status == (mayPass ? 204 : 403), "\(scope.rawValue)")
            if !mayPass { #expect(answer.slug == "forbidden") }
        }
    }

    @Test func `a key of one app passes for that app only, however its name is written`() async throws {
        let world = Self.world([])
        for path in ["com.example.Stadium", "com.example.stadium", "com%2Eexample%2EStadium"] {
            #expect(try await world("GET", "/v1/apps/\(path)/it", as: "gs_stadium").status == 204, "\(path)")
        }
        let refused = try await world("GET", "/v1/apps/com.example.Other/it", as: "gs_stadium")
        #expect(refused.status == 403)
        #expect(refused.slug == "forbidden")
        #expect(refused.text.contains("com.example.Stadium only"))
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

    @Test(arguments: ["/openapi.yaml", "/v1/nothing", "/v1/apps/com.example.Stadium/it"])
    func `HEAD answers as GET does, without the body`(path: String) async throws {
        let world = RouteWorld(others: [
            Route(Self.it([])) { _, _ in throw Problem(.notFound, "It is not there.") }
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
