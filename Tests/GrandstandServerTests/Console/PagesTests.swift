internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import Testing

@testable internal import GrandstandServer

/// Pages next to the API. These pages answer their requests themselves. The middleware for all requests also handles
/// the requests for these pages.
struct PagesTests {
    /// A page that reads a key from the request's header `X-Key`. It answers with the key's scopes in the header
    /// `Location`.
    private static func world(_ limits: RateLimits.Settings) -> RouteWorld {
        var world = RouteWorld()
        world.limits = RateLimits(limits)
        world.pages = { request, access in
            let secret = HTTPField.Name("X-Key").flatMap { request.headers[$0] }
            guard let secret else { return Response(status: .ok, headers: [.cacheControl: "max-age=1"]) }
            return Response(status: .ok, headers: [.location: try await access.identify(secret).scopes.description])
        }
        return world
    }

    private static let unlimited = RateLimits.Settings(requests: nil, failures: nil)

    @Test func `the pages own their path and everything below it, without an API key`() async throws {
        let world = Self.world(Self.unlimited)
        for (method, path) in [
            ("GET", "/console"), ("GET", "/console/a/b?c=d"), ("POST", "/console/a"), ("HEAD", "/console/a"),
        ] {
            let answer = try await world(method, path, as: nil)
            #expect(answer.status == 200, "\(method) \(path)")
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            #expect(answer.headers[.xRequestID] != nil)
            #expect(answer.headers[.cacheControl] == "max-age=1")
        }
        #expect(try await world("GET", "/consolex", as: nil).status == 404)
    }

    @Test(.database) func `a key is found as in the API, and wrong keys count together`() async throws {
        let world = Self.world(.init(requests: 1, failures: 3))
        let known = try await world("GET", "/console", headers: ["X-Key": "gs_operate"], as: nil)
        #expect(known.headers[.location]?.contains("operate") == true)
        #expect(known.headers[HTTPField.Name("RateLimit-Limit")!] == "2")
        for _ in 0..<2 {
            let answer = try await world("GET", "/console", headers: ["X-Key": "gs_guess"], as: nil)
            #expect(answer.slug == "unauthenticated")
        }
        #expect(try await world("GET", "/v1/apps", as: "gs_guess").status == 401)
        let limited = try await world("GET", "/console", headers: ["X-Key": "gs_guess"], as: nil)
        #expect(limited.status == 429)
        #expect(limited.headers[.retryAfter] != nil)
        // A caller with a valid key is still accepted.
        #expect(try await world("GET", "/console", headers: ["X-Key": "gs_operate"], as: nil).status == 200)
    }
}
