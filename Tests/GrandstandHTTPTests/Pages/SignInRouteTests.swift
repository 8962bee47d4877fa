internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// Sign-in to the console, and sign-out.
struct SignInRouteTests {
    @Test(arguments: [
        ("/console", "/console/sign-in"),
        ("/console/events?state=live", "/console/sign-in?next=%2Fconsole%2Fevents%3Fstate%3Dlive"),
        (
            "/console/apps/x/production/channels",
            "/console/sign-in?next=%2Fconsole%2Fapps%2Fx%2Fproduction%2Fchannels"
        ),
    ])
    func `without a key there is the form, and after sign-in the requested page`(
        path: String, place: String
    ) async throws {
        let answer = try await ConsoleWorld().get(path, as: nil)
        #expect(answer.status == 303)
        #expect(answer.location == place)
        let form = try await ConsoleWorld().get(place, as: nil)
        #expect(form.status == 200)
        #expect(form.headers[.contentType] == "text/html; charset=utf-8")
        #expect(form.headers[.cacheControl] == "no-store")
        #expect(form.body.contains(#"type="password""#))
        #expect(form.body.contains(#"name="next" value="\#(path)""#))
        let policy = try #require(form.headers[.contentSecurityPolicy])
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
        #expect(!policy.contains("unsafe"))
    }

    @Test func `stylesheet and script need no key, and an unknown address gives a page`() async throws {
        for (path, type) in [("style.css", "text/css"), ("console.js", "text/javascript")] {
            let asset = try await ConsoleWorld().get("/console/\(path)", as: nil)
            #expect(asset.status == 200)
            #expect(asset.headers[.contentType] == "\(type); charset=utf-8")
        }
        let nowhere = try await ConsoleWorld().get("/console/nowhere", as: nil)
        #expect(nowhere.status == 404)
        #expect(nowhere.body.contains("There is no page at /console/nowhere"))
        #expect(nowhere.body.contains("1a2b"))
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
        let kept = try #require(world.sessions.all.first)
        #expect(kept.key == ConsoleWorld.id(of: "operate"))
        #expect(!cookie.contains(Base64URL.text(kept.id)))
        let proxied = try await ConsoleWorld().post(
            "/console/sign-in", [("key", "operate"), ("next", "https://example.com/")],
            headers: ["X-Forwarded-Proto": "https"])
        #expect(proxied.cookie?.contains("Secure") == true)
        #expect(proxied.location == "/console")
        let out = try await ConsoleWorld().post("/console/sign-out")
        #expect(out.status == 303)
        #expect(out.location == "/console/sign-in")
        #expect(out.cookie?.contains("Max-Age=0") == true)
    }

    @Test func `a wrong key shows the form again with what to do`() async throws {
        var world = ConsoleWorld()
        let nothing = try await world.post("/console/sign-in", [("key", " ")])
        #expect(nothing.status == 422)
        #expect(nothing.body.contains("Paste a key first."))
        let wrong = try await world.post("/console/sign-in", [("key", "gs_guess"), ("next", "/console/apps")])
        #expect(wrong.status == 401)
        #expect(wrong.body.contains("This key is not known."))
        #expect(wrong.body.contains(#"value="/console/apps""#))
        #expect(!wrong.body.contains("gs_guess"))
        #expect(wrong.cookie == nil)
        world.identify = { _ in throw Problem(.rateLimited, "Try again in 7 s.", retryAfter: 7) }
        let limited = try await world.post("/console/sign-in", [("key", "gs_guess")])
        #expect(limited.status == 429)
        #expect(limited.headers[.retryAfter] == "7")
        #expect(limited.body.contains("Try again in 7 s."))
    }

    @Test func `a key that opens no page is refused with the required scopes`() async throws {
        var world = ConsoleWorld()
        for secret in ["lookup", "device", "lookup-device"] {
            let answer = try await world.post("/console/sign-in", [("key", secret), ("next", "/console/apps")])
            #expect(answer.status == 403 && answer.cookie == nil)
            #expect(
                answer.body.contains("is for apps. The console takes one with the scope operate, organise or admin"))
            #expect(answer.body.contains(#"value="/console/apps""#))
        }
        world.identify = { [identify = world.identify] secret in
            var key = try identify(secret)
            key.replacedBy = UUID()
            return key
        }
        let rotated = try await world.post("/console/sign-in", [("key", "admin")])
        #expect(rotated.status == 403 && rotated.cookie == nil)
        #expect(rotated.body.contains("The key test was rotated. Sign in with its new secret"))
        #expect(rotated.body.contains("grandstand keys create"))
        #expect(world.sessions.all.isEmpty)
    }

    @Test func `the cookie of an invalid key is removed`() async throws {
        let answer = try await ConsoleWorld().get("/console/apps", as: "gs_revoked")
        #expect(answer.status == 401)
        #expect(answer.body.contains("You were signed out: This session is over. Its key was revoked"))
        #expect(answer.body.contains(#"value="/console/apps""#))
        #expect(answer.cookie?.contains("Max-Age=0") == true)
    }

    @Test(arguments: [
        ["Origin": "https://example.com"], ["Sec-Fetch-Site": "cross-site"], ["Origin": "null"],
    ])
    func `other sites can sign nobody in or out`(headers: [String: String]) async throws {
        for path in ["/console/sign-in", "/console/sign-out"] {
            let answer = try await ConsoleWorld().post(path, [("key", "operate")], headers: headers)
            #expect(answer.status == 403)
            #expect(answer.cookie == nil)
            #expect(answer.body.contains("Open the console and sign in there."))
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
