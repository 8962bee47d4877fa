internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import NIOHTTP1
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
                    #expect(answer.detail.hasSuffix("for installations and lookups only."))
                    continue
                }
                let words = scopes.sorted().joined(separator: " or ")
                #expect(answer.detail.hasSuffix("does not hold the scope \(words)."), "\(operation.id)")
            }
        }
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
        world.limits = RateLimits(requests: 0.05)
        let path = "/v1/apps/com.example.Stadium/it"
        #expect(try await world("GET", path).status == 204)
        let second = try await world("GET", path)
        #expect(second.slug == "rate-limited" && second.status == 429)
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

struct RateLimitsTests {
    @Test func `new installations are counted by address, except those behind proxies`() {
        let limits = RateLimits(installations: 60)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        for address in ["93.184.216.34", "2a00:1450:4001:8"] {
            for _ in 0..<60 {
                #expect(limits.newInstallation(from: address, at: now, 0) == nil)
                #expect(limits.newInstallation(from: address, at: now, 1) == nil)
            }
            #expect(limits.newInstallation(from: address, at: now, 0)?.reset == 1)
            #expect(limits.newInstallation(from: address, at: now.addingTimeInterval(1), 0) == nil)
        }
        for address in ["127.0.0.1", "10.1.2.3", "192.168.0.7", "0:0:0:0", "fd00:1:2:3"] {
            for _ in 0..<100 { #expect(limits.newInstallation(from: address, at: now, 1) == nil, "\(address)") }
        }
    }

    @Test func `requests of app keys other than lookups are limited, whatever the settings are`() {
        let limits = RateLimits()
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let keys = [Contract.Scope.lookup, .admin].map {
            APIKey(id: UUID(), name: "k", scopes: [$0], reach: .only([Sample.stadium]))
        }
        for _ in 0..<20 { #expect(limits.take(keys[0], for: [], at: now)?.isRefused == false) }
        #expect(limits.take(keys[0], for: [], at: now)?.isRefused == true)
        #expect(limits.take(keys[0], for: [], at: now + 1)?.isRefused == false)
        // Lookups have no limit. Keys that are not for client apps have none in these settings.
        #expect(limits.take(keys[0], for: [.lookup], at: now) == nil)
        #expect(limits.take(keys[1], for: [], at: now) == nil)
    }
}

/// Requests that reach no route because of their heads.
struct HeadRefusalsTests {
    private static func line() throws -> ParsedLine {
        try ParsedLine(HeadRefusals(headers: CommonHeaders(isSecure: false)))
    }

    @Test(arguments: ["", "Host: a\r\nhost: b\r\n", "Host:\r\n", "Host: a b\r\n"])
    func `an HTTP 1 1 request needs one Host, and gets 400 with the reason`(hosts: String) throws {
        let line = try Self.line()
        try line.says("POST / HTTP/1.1\r\n\(hosts)Content-Length: 1\r\n\r\nx")
        #expect(line.passed == ["\(HTTPParserError.invalidHeaderToken)"])
        // Hummingbird's answer to an error of the parser.
        let answer = try line.answers(.badRequest, ["Content-Length": "0"])
        #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        #expect(answer.contains("one header Host") && answer.contains(#""status":400"#), "\(answer)")
    }

    @Test(arguments: ["0\r\n", "0\r\nHost: x\r\n", "1\r\nHost: x\r\n"])
    func `a request with one Host, and an HTTP 1 0 request without, are passed on`(rest: String) throws {
        let line = try Self.line()
        try line.says("GET / HTTP/1.\(rest)\r\n")
        #expect(line.paths == ["/"])
    }
}
