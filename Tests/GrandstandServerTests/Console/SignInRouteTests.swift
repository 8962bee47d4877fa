internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Sign-in to the console, and sign-out.
@Suite(.database)
struct SignInRouteTests {
    @Test func `without a session a page leads to the form, which cannot be framed and runs no script of others`()
        async throws
    {
        let path = "/console/events?state=live"
        let place = "/console/sign-in?next=%2Fconsole%2Fevents%3Fstate%3Dlive"
        let answer = try await ConsoleWorld().get(path, as: nil)
        #expect(answer.status == 303 && answer.location == place)
        let form = try await ConsoleWorld().get(place, as: nil)
        #expect(form.status == 200 && form.headers[.cacheControl] == "no-store")
        #expect(form.body.contains(#"name="next" value="\#(path)""#))
        let policy = try #require(form.headers[.contentSecurityPolicy])
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
        #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
    }

    @Test func `a key becomes a twelve-hour session, in a cookie hidden from scripts and other sites`()
        async throws
    {
        let world = ConsoleWorld()
        let answer = try await world.post(
            "/console/sign-in", [("key", "  operate\n"), ("next", "/console/events?state=live")])
        #expect(answer.status == 303)
        #expect(answer.location == "/console/events?state=live")
        let cookie = try #require(answer.cookie)
        for part in ["grandstand-session=", "HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=43200"] {
            #expect(cookie.contains(part), "\(part)")
        }
        #expect(!cookie.contains("Secure") && !cookie.contains("operate"))
        let kept = try #require(try await world.database.query("select id, key from console_sessions").first)
        #expect(try kept.decode("key") == ConsoleWorld.id(of: "operate"))
        #expect(!cookie.contains(Base64URL.text(try kept.decode([UInt8].self, "id"))))
        let proxied = try await ConsoleWorld().post(
            "/console/sign-in", [("key", "operate"), ("next", "https://example.com/")],
            headers: ["X-Forwarded-Proto": "https, http"])
        #expect(proxied.cookie?.contains("Secure") == true)
        #expect(proxied.location == "/console")
    }

    @Test func `a wrong key or one over its limit shows the form again, without the key`() async throws {
        var world = ConsoleWorld()
        let wrong = try await world.post("/console/sign-in", [("key", "gs_guess"), ("next", "/console/apps")])
        #expect(wrong.status == 401 && wrong.cookie == nil)
        #expect(wrong.body.contains(#"value="/console/apps""#) && !wrong.body.contains("gs_guess"))
        world.limits = RateLimits(requests: nil, failures: 1)
        _ = try await world.post("/console/sign-in", [("key", "gs_guess")])
        let limited = try await world.post("/console/sign-in", [("key", "gs_guess")])
        #expect(limited.status == 429 && limited.headers[.retryAfter] != nil)
    }

    @Test func `a key that opens no page is refused with the required scopes`() async throws {
        let world = ConsoleWorld()
        for secret in ["lookup", "device", "lookup-device"] {
            let answer = try await world.post("/console/sign-in", [("key", secret)])
            #expect(answer.status == 403 && answer.cookie == nil)
        }
        _ = try await world.session("admin")
        try await world.database.query(
            """
            update api_keys set replaced_by = \(ConsoleWorld.id(of: "lookup")) where id = \(ConsoleWorld.id(of: "admin"))
            """)
        try await world.database.query("delete from console_sessions")
        let rotated = try await world.post("/console/sign-in", [("key", "admin")])
        #expect(rotated.status == 403 && rotated.cookie == nil)
        #expect(rotated.body.contains("The key test was rotated. Sign in with its new secret"))
        #expect(try await world.rows.rows("console_sessions") == 0)
    }

    @Test func `other sites can sign nobody in or out`() async throws {
        let headers = ["Origin": "https://example.com"]
        for path in ["/console/sign-in", "/console/sign-out"] {
            let answer = try await ConsoleWorld().post(path, [("key", "operate")], headers: headers)
            #expect(answer.status == 403)
            #expect(answer.cookie == nil)
            #expect(answer.body.contains("<title>This form is not of this server"))
        }
        let own = ["Origin": "https://stadium.example"]
        #expect(try await ConsoleWorld().post("/console/sign-in", [("key", "operate")], headers: own).status == 303)
    }

    @Test func `an invalid form is refused`() async throws {
        let json = try await ConsoleWorld().post(
            "/console/sign-in", [("key", "operate")], headers: ["Content-Type": "application/json"])
        #expect(json.status == 415)
        let long = try await ConsoleWorld().post("/console/sign-in", [("key", String(repeating: "x", count: 10_000))])
        #expect(long.status == 413)
        #expect(long.body.contains("bytes at most"))
    }
}
