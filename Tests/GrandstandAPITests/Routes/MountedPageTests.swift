internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import Testing

@testable internal import GrandstandAPI

/// Pages beside the API: they answer for themselves, and have around them what every request has.
struct MountedPageTests {
    /// A page that says whose key the header `X-Key` has.
    private static func world(_ limits: RateLimits.Settings) -> RouteWorld {
        var world = RouteWorld()
        world.limits = RateLimits(limits)
        world.pages = MountedPages(path: "/pages") { request, _, identify in
            let secret = HTTPField.Name("X-Key").flatMap { request.headers[$0] }
            guard let secret else { return Response(status: .ok, headers: [.cacheControl: "max-age=1"]) }
            return Response(status: .ok, headers: [.location: try await identify(secret).scopes.description])
        }
        return world
    }

    private static let unlimited = RateLimits.Settings(requests: nil, lookups: nil, failures: nil)

    @Test func `the path and all below it is theirs, without a key of the API`() async throws {
        let world = Self.world(Self.unlimited)
        for (method, path) in [("GET", "/pages"), ("GET", "/pages/a/b?c=d"), ("POST", "/pages/a")] {
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
        // Who has a key comes in.
        #expect(try await world("GET", "/pages", headers: ["X-Key": "gs_operate"], as: nil).status == 200)
    }
}
