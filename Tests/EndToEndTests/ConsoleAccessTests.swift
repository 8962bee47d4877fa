internal import GrandstandTestKit
internal import Testing

/// Sign-in to the console of a running server. GrandstandHTTPTests test the access to each page.
@Suite(.timeLimit(.minutes(5)))
struct ConsoleAccessTests {
    @Test func `a wrong key at sign-in shows the form again and counts like an API failure`() async throws {
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
            // A valid key signs in although wrong keys are limited now. `Origin` is what a browser sends with the
            // server's own form.
            let own = Browser(url: stage.url, headers: ["Origin: \(stage.url)"])
            let page = try await own.signedIn(with: stage.api.secret).get("/console")
            #expect(page.status == 200)
            #expect(page.header("ratelimit-limit") != nil)
            #expect(!page.body.contains(try #require(stage.api.secret)))
        }
    }

    /// Monitors and caches send HEAD.
    @Test func `HEAD has the status and content type of GET, and no body`() async throws {
        try await Stage.with { stage in
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            for path in [
                "/readyz", "/healthz", "/console", "/console/apps", "/console/sign-in", "/console/style.css",
                "/console/nowhere", "/v1/nothing",
            ] {
                let (get, head) = (try await browser.get(path), try await browser.head(path))
                #expect(head.status == get.status && head.body.isEmpty && !get.body.isEmpty, "\(path)")
                #expect(head.header("content-type") == get.header("content-type"), "\(path)")
            }
            #expect(try await Browser(url: stage.url).head("/console/apps").status == 303)
        }
    }

    @Test func `a rotated key's old secret cannot sign in, and the refusal asks for the new one`()
        async throws
    {
        try await Stage.with { stage in
            let made = try await stage.api("POST", "/v1/keys", #"{"name": "mine", "scopes": ["admin"]}"#).json
            let (secret, id) = (try #require(made["secret"]?.string), try #require(made["id"]?.string))
            let next = try await stage.api("POST", "/v1/keys/\(id)/rotations", #"{"overlapSeconds": 600}"#).json
            #expect(try await HTTPCaller(url: stage.url, secret: secret)("GET", "/v1/apps").status == 200)
            let refused = try await Browser(url: stage.url).post("/console/sign-in", [("key", secret)])
            #expect(refused.status == 403 && refused.header("set-cookie") == nil)
            #expect(refused.body.contains("The key mine was rotated. Sign in with its new secret"))
            let browser = try await Browser(url: stage.url).signedIn(with: next["secret"]?.string)
            #expect(try await browser.get("/console/keys").status == 200)
        }
    }
}
