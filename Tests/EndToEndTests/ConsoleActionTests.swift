internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// What people do on the console's pages, through a server and in its database.
@Suite(.timeLimit(.minutes(5)))
struct ConsoleActionTests {
    /// The token of a page's forms.
    private static func token(_ page: Browser.Answer) throws -> String {
        let part = try #require(page.body.components(separatedBy: #"name="token" value=""#).dropFirst().first)
        return try #require(part.components(separatedBy: "\"").first)
    }

    @Test func `a key form sent twice makes one key, and the audit log names the signed-in key`() async throws {
        try await Stage.with { stage in
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            #expect(browser.cookie?.contains(try #require(stage.api.secret)) == false)
            let page = try await browser.get("/console/keys")
            #expect(page.status == 200)
            let form = [("name", "Broadcaster"), ("scope", "organise"), ("token", try Self.token(page))]
            // A double click sends the form twice. Both requests are answered alike, and one key is made.
            async let one = browser.post("/console/keys", form.map { (name: $0.0, value: $0.1) })
            async let other = browser.post("/console/keys", form.map { (name: $0.0, value: $0.1) })
            let answers = try await [one, other]
            let secrets = Set(
                answers.compactMap { $0.body.firstMatch(of: /<code class="secret">([^<]+)</)?.1 }.map(String.init))
            #expect(answers.map(\.status) == [200, 200])
            let secret = try #require(secrets.first)
            #expect(secrets.count == 1)
            let keys = try await stage.api("GET", "/v1/keys").json["items"]?.items ?? []
            #expect(keys.filter { $0["name"]?.string == "Broadcaster" }.count == 1)
            #expect(try await HTTPCaller(url: stage.url, secret: secret)("GET", "/v1/events").status == 200)
            let log = try await stage.api("GET", "/v1/audit-log?action=key.created").json["items"]?.items ?? []
            let entry = try #require(log.first { $0["reason"]?.string?.contains("Broadcaster") == true })
            #expect(entry["actor"]?.string?.hasPrefix("key:") == true)
            #expect(try await browser.get("/console/audit-log?action=key.created").body.contains("Broadcaster"))
        }
    }

    @Test func `revoking the key in use ends its session, also for copies of the cookie`() async throws {
        try await Stage.with { stage in
            let made = try await stage.api("POST", "/v1/keys", #"{"name": "mine", "scopes": ["admin"]}"#).json
            let (secret, id) = (try #require(made["secret"]?.string), try #require(made["id"]?.string))
            let browser = try await Browser(url: stage.url).signedIn(with: secret)
            let copy = browser
            let page = try await browser.get("/console/keys/\(id)")
            let token = try Self.token(page)
            let path = "/console/keys/\(id)/revoke"
            // Nothing is done if the key is wrong, if the form comes from another site, or if it has no token.
            let unconfirmed = try await browser.post(path, [("token", token), ("currentKey", "gs_guess")])
            #expect(unconfirmed.status == 403)
            var foreign = browser
            foreign.headers = ["Origin: https://example.com"]
            let crossSite = try await foreign.post(path, [("token", token), ("currentKey", secret)])
            #expect(crossSite.status == 403)
            #expect(try await browser.post(path, [("currentKey", secret)]).status == 403)
            #expect(try await copy.get("/console/keys").status == 200)
            let done = try await browser.post(path, [("token", token), ("currentKey", secret)])
            #expect(done.status == 303)
            let after = try await copy.get("/console/keys")
            #expect(after.status == 401)
            #expect(after.body.contains("Its key was revoked"))
            #expect(try await copy.post(path, [("token", token), ("currentKey", secret)]).status == 401)
        }
    }

    @Test(arguments: ["0", "3600"])
    func `the form that rotates the key in use shows the same secret when it is sent again`(overlap: String)
        async throws
    {
        try await Stage.with { stage in
            let made = try await stage.api("POST", "/v1/keys", #"{"name": "mine", "scopes": ["admin"]}"#).json
            let (secret, id) = (try #require(made["secret"]?.string), try #require(made["id"]?.string))
            let browser = try await Browser(url: stage.url).signedIn(with: secret)
            let token = try Self.token(try await browser.get("/console/keys/\(id)"))
            func rotate(_ key: String) async throws -> Browser.Answer {
                try await browser.post(
                    "/console/keys/\(id)/rotate", [("token", token), ("overlapSeconds", overlap), ("currentKey", key)])
            }
            // The form is sent twice at the same time, as by a double click, and once later, as by reloading the
            // answer.
            async let one = rotate(secret)
            async let other = rotate(secret)
            let answers = [try await one, try await other, try await rotate(secret)]
            #expect(answers.map(\.status) == [200, 200, 200], "\(answers.map(\.body))")
            let secrets = Set(answers.compactMap { $0.body.firstMatch(of: /<code class="secret">([^<]+)</)?.1 })
            #expect(secrets.count == 1)
            let next = String(try #require(secrets.first))
            #expect(try await HTTPCaller(url: stage.url, secret: next)("GET", "/v1/keys").status == 200)
            let guessed = try await rotate("gs_guess")
            #expect(guessed.status == 401 && !guessed.body.contains(next))
            #expect(try await browser.get("/console/keys").status == 401)
        }
    }

    @Test func `a form that declares or moves an event succeeds again when it is sent twice`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            let event = [
                ("key", "final"), ("name", "Final"), ("startsAt", "2030-11-28T14:30"), ("topics", "b a"),
                ("channelsOpenBefore", "1.5"), ("audiences", "\(Stage.bundleID) development noMessageStored"),
                ("more", #"{"metadata": {"round": 7}, "defaults": {"expiresIn": 300}}"#),
            ]
            for (path, form) in [
                ("/console/season/declare", event),
                ("/console/events/final/move", [("startsAt", "2030-11-28T15:30"), ("endsAt", "")]),
            ] {
                let page = try await browser.get(path.hasSuffix("move") ? "/console/events/final" : path)
                let version = page.body.firstMatch(of: /name="version" value="([^"]+)"/).map {
                    [("version", String($0.1))]
                }
                let all = form + (version ?? []) + [("token", try Self.token(page))]
                for _ in 0..<2 {
                    let answer = try await browser.post(path, all.map { (name: $0.0, value: $0.1) })
                    #expect(answer.status == 303, "\(path): \(answer.body)")
                }
            }
            #expect(
                try await stage.api("GET", "/v1/events/final").json["startsAt"]?.string == "2030-11-28T15:30:00.000Z")
        }
    }

    @Test func `after sign-out a session is over, and a key of one app sees no other app`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            let made = try await stage.api(
                "POST", "/v1/keys",
                #"{"name": "mine", "scopes": ["operate", "organise"], "bundleId": "\#(Stage.bundleID)"}"#
            ).json
            _ = try await stage.api(
                "PUT", "/v1/apps/com.example.Other",
                #"{"name": "theirs", "teamId": "TEAM123456", "keyId": "KEY1234567"}"#)
            let browser = try await Browser(url: stage.url).signedIn(with: made["secret"]?.string)
            for path in ["/console", "/console/apps", "/console/webhooks", "/console/audit-log"] {
                let page = try await browser.get(path)
                #expect(page.status == 200, "\(path)")
                #expect(!page.body.contains("com.example.Other") && !page.body.contains("theirs"), "\(path)")
            }
            let form = try await browser.get("/console/webhooks")
            let refused = try await browser.post(
                "/console/webhooks",
                [
                    ("url", "https://example.com/<script>\u{202E}" + String(repeating: "x", count: 10_000)),
                    ("topic", "broadcast.settled"), ("bundleIds", "com.example.Other"),
                    ("token", try Self.token(form)),
                ])
            #expect(refused.status == 422 || refused.status == 403)
            #expect(!refused.body.contains("<script>") && refused.body.contains("&lt;script&gt;"))
            #expect(!refused.body.unicodeScalars.contains("\u{202E}"))
            #expect(try await browser.post("/console/sign-out").status == 403)
            #expect(try await browser.post("/console/sign-out", [("token", try Self.token(form))]).status == 303)
            #expect(try await browser.get("/console").status == 401)
        }
    }

    @Test func `the live view tells that something changed, and ends with the session`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            let stream = try EventStream.open(
                HTTPCaller(url: stage.url, secret: nil), "/console/live?event=derby", cookie: browser.cookie)
            var events = stream.events.makeAsyncIterator()
            let first = try #require(await events.next())
            #expect(first.name == "change" && stream.contentType == "text/event-stream")
            _ = try await stage.settled(
                try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#))
            while let event = await events.next(), event.id == first.id {}
            // The stream has sent a server-sent event with another ID, so a page that is fetched now shows the change.
            // With the header `Grandstand-Live`, the server renders the page once for all viewers with the same key.
            var viewer = browser
            viewer.headers = ["Grandstand-Live: change \(first.id ?? "")"]
            #expect(try await viewer.get("/console/events/derby").body.contains("accepted"))
            let token = try Self.token(try await browser.get("/console/events/derby"))
            #expect(try await browser.post("/console/sign-out", [("token", token)]).status == 303)
            // The stream ends when the session ends.
            while await events.next() != nil {}
        }
    }
}
