internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// Who the console lets in, and what it shows to whom.
@Suite(.timeLimit(.minutes(5)))
struct ConsoleAccessTests {
    @Test func `without a key there is the form, and nothing else`() async throws {
        try await Stage.with { stage in
            let browser = Browser(url: stage.url)
            for path in ["/console", "/console/events?state=live", "/console/apps/x/production/channels"] {
                let answer = try await browser.get(path)
                #expect(answer.status == 303, "\(path)")
                #expect(answer.header("location")?.hasPrefix("/console/sign-in") == true)
            }
            #expect(
                try await browser.get("/console/events?state=live").header("location")
                    == "/console/sign-in?next=%2Fconsole%2Fevents%3Fstate%3Dlive")
            let form = try await browser.get("/console/sign-in?next=%2Fconsole%2Fevents%3Fstate%3Dlive")
            #expect(form.status == 200)
            #expect(form.header("content-type") == "text/html; charset=utf-8")
            #expect(form.body.contains(#"type="password""#))
            #expect(form.body.contains(#"name="next" value="/console/events?state=live""#))
            let policy = try #require(form.header("content-security-policy"))
            #expect(policy.contains("default-src 'none'") && !policy.contains("script") && !policy.contains("unsafe"))
            #expect(form.header("cache-control") == "no-store")
            #expect(form.header("x-content-type-options") == "nosniff")
            #expect(form.header("x-request-id") != nil)

            let style = try await browser.get("/console/style.css")
            #expect(style.status == 200)
            #expect(style.header("content-type") == "text/css; charset=utf-8")
            let nowhere = try await browser.get("/console/nowhere")
            #expect(nowhere.status == 404)
            #expect(nowhere.body.contains("There is no page at /console/nowhere"))
        }
    }

    @Test func `a key opens the console for a shift, in a cookie no script and no other site can use`() async throws {
        try await Stage.with { stage in
            let secret = try #require(stage.api.secret)
            let answer = try await Browser(url: stage.url).post(
                "/console/sign-in", [("key", "  \(secret)\n"), ("next", "/console/events?state=live")])
            #expect(answer.status == 303)
            #expect(answer.header("location") == "/console/events?state=live")
            let cookie = try #require(answer.header("set-cookie"))
            for part in ["HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=43200"] {
                #expect(cookie.contains(part), "\(part)")
            }
            #expect(!cookie.contains("Secure"))
            let proxied = try await Browser(url: stage.url, headers: ["X-Forwarded-Proto: https"]).post(
                "/console/sign-in", [("key", secret), ("next", "https://example.com/")])
            #expect(proxied.header("set-cookie")?.contains("Secure") == true)
            #expect(proxied.header("location") == "/console")

            let browser = try await Browser(url: stage.url).signedIn(with: secret)
            let page = try await browser.get("/console")
            #expect(page.status == 200)
            #expect(page.header("ratelimit-limit") != nil)
            #expect(!page.body.contains(secret))
            let out = try await browser.post("/console/sign-out")
            #expect(out.status == 303)
            #expect(out.header("set-cookie")?.contains("Max-Age=0") == true)
        }
    }

    @Test func `a wrong key brings the form again, counted with the API's failures`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_AUTH_FAILURE_LIMIT": "3"]) { stage in
            let browser = Browser(url: stage.url)
            let nothing = try await browser.post("/console/sign-in", [("key", "")])
            #expect(nothing.status == 422)
            #expect(nothing.body.contains("Paste a key first."))
            for _ in 0..<2 {
                let answer = try await browser.post("/console/sign-in", [("key", "gs_guess")])
                #expect(answer.status == 401)
                #expect(answer.body.contains("grandstand keys create"))
                #expect(!answer.body.contains("gs_guess"))
                #expect(answer.header("set-cookie") == nil)
            }
            #expect(try await HTTPCaller(url: stage.url, secret: "gs_guess")("GET", "/v1/apps").status == 401)
            let limited = try await browser.post("/console/sign-in", [("key", "gs_guess")])
            #expect(limited.status == 429)
            #expect(limited.header("retry-after") != nil)
            #expect(limited.body.contains("Try again in"))
            // Who has a key comes in.
            _ = try await browser.signedIn(with: stage.api.secret)
        }
    }

    @Test func `a key that is revoked ends what it opened`() async throws {
        try await Stage.with { stage in
            let (key, secret) = try await stage.server.keys.create(
                name: "short", scopes: [.operate], bundleID: nil, by: .commandLine)
            let browser = try await Browser(url: stage.url).signedIn(with: secret)
            #expect(try await browser.get("/console").status == 200)
            _ = try await stage.server.keys.revoke(key.id, by: .commandLine, now: Date())
            let answer = try await until("the key opens nothing") {
                let answer = try await browser.get("/console")
                return answer.status == 401 ? answer : nil
            }
            #expect(answer.body.contains("You were signed out"))
            #expect(answer.header("set-cookie")?.contains("Max-Age=0") == true)
        }
    }

    @Test func `a page whose scope is missing says so`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let ops = try await Browser(url: stage.url).signedIn(with: try await stage.caller([.operate]).secret)
            let organiser = try await Browser(url: stage.url).signedIn(with: try await stage.caller([.organise]).secret)
            let app = try await Browser(url: stage.url).signedIn(with: try await stage.caller([.lookup]).secret)
            let operatePages = [
                "/console/apps", "/console/apps/\(Stage.bundleID)", "/console/audit-log",
                "/console/apps/\(Stage.bundleID)/development/channels",
                "/console/apps/\(Stage.bundleID)/development/reconciliations",
            ]
            for path in operatePages {
                #expect(try await ops.get(path).status == 200, "\(path)")
                let answer = try await organiser.get(path)
                #expect(answer.status == 403, "\(path)")
                #expect(answer.body.contains("needs a key with the scope operate"))
                #expect(!answer.body.contains("SIMULATOR1"))
            }
            for path in ["/console/events", "/console/events/derby"] {
                #expect(try await organiser.get(path).status == 200, "\(path)")
                let answer = try await ops.get(path)
                #expect(answer.status == 403, "\(path)")
                #expect(answer.body.contains("needs a key with the scope organise"))
            }
            #expect(try await organiser.get("/console").header("location") == "/console/events")
            let nothing = try await app.get("/console")
            #expect(nothing.status == 403)
            #expect(nothing.body.contains("operate or organise"))
        }
    }

    @Test func `a key for one app sees that app only`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            try await stage.putApp("com.example.Other")
            try await stage.putEvent(
                "theirs", [Stage.audience(.development, .noMessageStored, of: "com.example.Other")])
            let key = try await stage.caller([.operate, .organise], app: "com.example.Other")
            let browser = try await Browser(url: stage.url).signedIn(with: key.secret)
            for path in ["/console", "/console/apps", "/console/events", "/console/audit-log"] {
                let answer = try await browser.get(path)
                #expect(answer.status == 200, "\(path)")
                #expect(answer.body.contains("com.example.Other"), "\(path)")
                #expect(!answer.body.contains(Stage.bundleID), "\(path)")
                #expect(!answer.body.contains("derby"), "\(path)")
            }
            for path in [
                "/console/apps/\(Stage.bundleID)", "/console/apps/\(Stage.bundleID.lowercased())/production/channels",
                "/console/apps/\(Stage.bundleID)/development/reconciliations", "/console/events/derby",
                "/console/events?bundleId=\(Stage.bundleID)", "/console/audit-log?bundleId=\(Stage.bundleID)",
            ] {
                let answer = try await browser.get(path)
                #expect(answer.status == 403, "\(path)")
                #expect(answer.body.contains("com.example.Other only"), "\(path)")
            }
        }
    }

    @Test func `other sites sign nobody in or out`() async throws {
        try await Stage.with { stage in
            let secret = try #require(stage.api.secret)
            for header in ["Origin: https://example.com", "Sec-Fetch-Site: cross-site", "Origin: null"] {
                let browser = Browser(url: stage.url, headers: [header])
                let answer = try await browser.post("/console/sign-in", [("key", secret)])
                #expect(answer.status == 403, "\(header)")
                #expect(answer.header("set-cookie") == nil)
                #expect(try await browser.post("/console/sign-out").status == 403)
            }
            _ = try await Browser(url: stage.url, headers: ["Origin: \(stage.url)"]).signedIn(with: secret)
        }
    }

    @Test func `a form that is none is refused`() async throws {
        try await Stage.with { stage in
            let caller = HTTPCaller(url: stage.url, secret: nil)
            #expect(try await caller("POST", "/console/sign-in", #"{"key": "x"}"#).status == 415)
            let long = try await Browser(url: stage.url).post(
                "/console/sign-in", [("key", String(repeating: "x", count: 10_000))])
            #expect(long.status == 413)
            #expect(long.body.contains("bytes at most"))
        }
    }
}
