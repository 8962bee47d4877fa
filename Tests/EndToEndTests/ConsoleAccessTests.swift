internal import GrandstandTestKit
internal import Testing

/// The console behind a server's gate. GrandstandConsoleTests show the access to each page.
@Suite(.timeLimit(.minutes(5)))
struct ConsoleAccessTests {
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
            // A person with a key is let in, from the form that the server showed.
            let own = Browser(url: stage.url, headers: ["Origin: \(stage.url)"])
            let page = try await own.signedIn(with: stage.api.secret).get("/console")
            #expect(page.status == 200)
            #expect(page.header("ratelimit-limit") != nil)
            #expect(!page.body.contains(try #require(stage.api.secret)))
        }
    }
}
