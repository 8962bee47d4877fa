internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// How long a session lasts, and what ends it.
@Suite(.database)
struct SessionTests {
    /// The sessions in the database: their keys, and when they were last used.
    private static func all(_ world: ConsoleWorld) async throws -> [(key: UUID, usedAt: Date)] {
        try await world.database.query("select key, used_at from console_sessions").map { row in
            (key: try row.decode("key"), usedAt: try row.decode("used_at"))
        }
    }

    @Test func `only a form of the session signs out, and then a copy of the cookie is useless`() async throws {
        let world = ConsoleWorld()
        let session = try await world.session("operate")
        let foreign = try await world.session("operate").formToken()
        for form in [[], [("token", foreign)]] {
            let refused = try await world.post("/console/sign-out", form, in: session)
            #expect(refused.status == 403 && refused.cookie == nil)
        }
        let out = try await world.post("/console/sign-out", [("token", session.formToken())], in: session)
        #expect(out.status == 303)
        #expect(out.cookie?.contains("Max-Age=0") == true)
        let copy = try await world.get("/console/apps", in: session)
        #expect(copy.status == 401 && copy.cookie?.contains("Max-Age=0") == true)
    }

    @Test(arguments: [
        (0, 7_199, true), (0, 7_201, false), (43_199 - 60, 43_199, true), (43_190, 43_201, false),
    ])
    func `a session ends after two hours without a page, and after twelve in any case`(
        used: Int, seconds: Int, isOpen: Bool
    ) async throws {
        var world = ConsoleWorld()
        let session = try await world.session("lookup")
        try await world.database.query(
            "update console_sessions set used_at = \(Samples.now + TimeInterval(used)) where id = \(session.id)")
        world.now = { Samples.now.addingTimeInterval(TimeInterval(seconds)) }
        // A key with this scope may see no page (403). If the session has ended, the answer is 401, because the session
        // is checked before the scope.
        #expect(try await world.get("/console/apps", in: session).status == (isOpen ? 403 : 401))
    }

    @Test func `a page keeps a session alive, a script's request does not`() async throws {
        var world = ConsoleWorld()
        let session = try await world.session("lookup")
        world.now = { Samples.now.addingTimeInterval(3_600) }
        _ = try await world.get("/console/apps", in: session, headers: ["Grandstand-Live": "yes"])
        #expect(try await Self.all(world).map(\.usedAt) == [Samples.now])
        _ = try await world.get("/console/apps", in: session)
        #expect(try await Self.all(world).map(\.usedAt) == [Samples.now.addingTimeInterval(3_600)])
    }

    @Test func `a sign-in ends the browser's earlier session, and removes those that are over`() async throws {
        var world = ConsoleWorld()
        func keys() async throws -> Set<UUID> { try await Set(Self.all(world).map(\.key)) }
        let session = try await world.session("operate")
        let answer = try await world.post("/console/sign-in", [("key", "organise")], in: session)
        #expect(answer.status == 303)
        #expect(try await keys() == [ConsoleWorld.id(of: "organise")])
        world.now = { Samples.now.addingTimeInterval(SessionSecret.idleTime) }
        _ = try await world.session("lookup")
        #expect(try await keys().count == 2)
        world.now = { Samples.now.addingTimeInterval(SessionSecret.idleTime + 1) }
        _ = try await world.session("admin")
        #expect(try await keys() == [ConsoleWorld.id(of: "lookup"), ConsoleWorld.id(of: "admin")])
    }
}

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
        #expect(form.text.contains(#"name="next" value="\#(path)""#))
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
        #expect(wrong.text.contains(#"value="/console/apps""#) && !wrong.text.contains("gs_guess"))
        world.limits = RateLimits(failures: 1)
        _ = try await world.post("/console/sign-in", [("key", "gs_guess")])
        let limited = try await world.post("/console/sign-in", [("key", "gs_guess")])
        #expect(limited.status == 429 && limited.headers[.retryAfter] != nil)
    }

    @Test func `a key that opens no page is refused with the required scopes`() async throws {
        let world = ConsoleWorld()
        for secret in ["lookup", "device", "lookup-device"] {
            let answer = try await world.post("/console/sign-in", [("key", secret)])
            #expect(answer.status == 403 && answer.cookie == nil)
            #expect(answer.text.contains("scope operate, organise or admin"))
        }
    }

    @Test(arguments: ["/console/sign-in", "/console/sign-out"])
    func `other sites can sign nobody in or out`(path: String) async throws {
        for (origin, status) in [("https://example.com", 403), ("https://stadium.example", 303)] {
            let answer = try await ConsoleWorld().post(path, [("key", "operate")], headers: ["Origin": origin])
            #expect(answer.status == status && (status == 303 || answer.cookie == nil))
        }
    }
}
