internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import Testing

/// The console's pages, over a real server and what is in its database.
@Suite(.timeLimit(.minutes(5)))
struct ConsolePageTests {
    private static let quiet = ["GRANDSTAND_RECONCILE_INTERVAL": "0", "GRANDSTAND_RECONCILE_GRACE": "0"]
    private static let place = "/console/apps/\(Stage.bundleID)/development"

    /// Everything that people write and that comes back to them, as nasty as it gets.
    static let hostile = #"<script>alert(1)</script>"\#u{301} onfocus='x'&{{key}}\#u{202E}x"#
    static let harmless =
        "&lt;script&gt;alert(1)&lt;/script&gt;&quot;\u{301} onfocus=&#39;x&#39;&amp;{{key}}[U+202E]x"

    @Test func `an event shows its channels, its broadcasts, and what Apple refused`() async throws {
        try await Stage.with { stage in
            let channel = try #require(try await stage.putLiveEvent().first)
            let fine = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            _ = try await stage.settled(fine)
            stage.simulator.answerNext(with: .refusal(.badPriority)) { $0.isBroadcast }
            let refused = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 2}}"#)
            #expect(try await stage.settled(refused).deliveryStates == ["rejected"])

            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            let list = try await browser.get("/console/events")
            #expect(list.status == 200)
            #expect(list.body.contains(#"<a href="/console/events/derby">derby</a>"#))
            #expect(list.body.contains("1 active"))
            #expect(try await browser.get("/console/events?state=ended").body.contains("No event fits."))
            #expect(try await browser.get("/console/events?state=nonsense").status == 422)
            #expect(try await browser.get("/console/events?key=derby").header("location") == "/console/events/derby")
            #expect(try await browser.get("/console/events/none").status == 404)

            let page = try await browser.get("/console/events/derby")
            #expect(page.status == 200)
            for text in [
                channel.html, fine, refused, "1 accepted", "1 rejected", "BadPriority", "repeating it cannot help",
                #"http-equiv="refresh" content="5""#,
            ] { #expect(page.body.contains(text), "\(text)") }
            #expect(page.commands.contains("grandstand event cancel derby"))
            let still = try await browser.get("/console/events/derby?refresh=off")
            #expect(!still.body.contains("http-equiv"))
        }
    }

    @Test func `the overview says what leaked, what is missing, and what was turned off`() async throws {
        try await Stage.with(settings: Self.quiet) { stage in
            try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let lost = try #require(try await stage.activeChannels(of: "derby").first)
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            let before = try await browser.get("/console")
            #expect(before.body.contains("2 of 10,000"))
            #expect(before.body.contains("Nothing: every app has room"))
            #expect(before.body.contains("not read yet"))

            let stray = try await AppleConsole.with(stage.simulator) { console in
                try await console.delete(lost)
                return try await console.create()
            }
            let report = try await stage.reconcile("{}")
            let overview = try await browser.get("/console")
            #expect(overview.body.contains("Apple has 1 channel that nobody here made"))
            let command = "grandstand reconcile \(Stage.bundleID) development --apply --adopt"
            #expect(overview.commands.contains(command))
            let unmanaged = try await browser.get(Self.place + "/channels?managed=false")
            #expect(unmanaged.body.contains(stray.html))

            let list = try await browser.get(Self.place + "/reconciliations")
            let id = try #require(report["id"]?.string)
            #expect(list.body.contains("looked only"))
            let detail = try await browser.get(Self.place + "/reconciliations/\(id)")
            #expect(detail.status == 200)
            for text in ["mark-missing", "not done", lost.html, stray.html, "Missing at Apple (1)", "Unmanaged (1)"] {
                #expect(detail.body.contains(text), "\(text)")
            }
            #expect(detail.commands.contains("grandstand reconcile \(Stage.bundleID) development --apply"))

            stage.simulator.setBroadcastCapability(false, of: Stage.bundleID)
            stage.simulator.setBroadcastCapability(true, of: Stage.bundleID)
            #expect(try await stage.reconcile("{}")["alarm"]?.string == "capability-off")
            let alarmed = try await browser.get("/console")
            #expect(alarmed.body.contains("Every known channel vanished"))
            #expect(alarmed.commands.contains("grandstand reconcile \(Stage.bundleID) development --apply --recreate"))
        }
    }

    @Test func `apps, channels and the audit log have what the API has`() async throws {
        try await Stage.with { stage in
            let channel = try #require(try await stage.putLiveEvent().first)
            let missing = try await stage.api(
                "PUT", "/v1/apps/com.example.Keyless",
                #"{"name": "Keyless", "teamId": "TEAM123456", "keyId": "NOSUCHKEY1"}"#)
            #expect(missing.status == 201)
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            let apps = try await browser.get("/console/apps")
            #expect(apps.body.contains("development ok, production ok"))
            #expect(apps.body.contains("development missing, production missing"))
            let keyless = try await browser.get("/console/apps/com.example.Keyless")
            #expect(keyless.body.contains("Put AuthKey_NOSUCHKEY1.p8"))
            // The capitals in the bundle ID were learned when the channel was made.
            let app = try await browser.get("/console/apps/\(Stage.bundleID)")
            #expect(app.status == 200)
            #expect(try await browser.get("/console/apps/com.example.None").status == 404)
            let quirks = try await stage.api("GET", "/v1/apps/\(Stage.bundleID)").json["quirks"]?.items ?? []
            for quirk in quirks {
                #expect(app.body.contains(try #require(quirk["quirk"]?.string)))
                #expect(app.body.contains(try #require(quirk["evidence"]?.string).html))
            }

            let channels = try await browser.get(Self.place + "/channels?state=active&storagePolicy=noMessageStored")
            #expect(channels.body.contains(channel.html))
            #expect(channels.body.contains(#"<option selected>active</option>"#))
            let none = try await browser.get(Self.place + "/channels?state=failed&storagePolicy=&eventKey=")
            #expect(none.body.contains("No channel fits."))

            let log = try await browser.get("/console/audit-log?action=channel.created")
            #expect(log.body.contains(channel.html))
            #expect(log.body.contains("<bdi>201</bdi>"))
            #expect(try await browser.get("/console/audit-log?from=yesterday").status == 422)
        }
    }

    @Test func `names that are markup, quotes or turn the text stay text`() async throws {
        try await Stage.with { stage in
            let name = String(decoding: try JSONEncoder().encode(Self.hostile), as: UTF8.self)
            let app = try await stage.api(
                "PUT", "/v1/apps/\(Stage.bundleID)",
                #"{"name": \#(name), "teamId": "SIMULATOR1", "keyId": "SIMULATOR1"}"#)
            #expect(app.status == 201, "\(app.text)")
            let event = try await stage.api(
                "PUT", "/v1/events/derby",
                #"{"name": \#(name), "kind": \#(name), "audiences": [\#(Stage.audience(.development, .noMessageStored))]}"#
            )
            #expect(event.status == 201, "\(event.text)")
            let channel = try await stage.api(
                "POST", "/v1/apps/\(Stage.bundleID)/development/channels",
                #"{"storagePolicy": "noMessageStored", "label": \#(name)}"#)
            #expect(channel.status == 201, "\(channel.text)")
            let (_, secret) = try await stage.server.keys.create(
                name: Self.hostile, scopes: [.admin], bundleID: nil, by: .commandLine)
            _ = try await HTTPCaller(url: stage.url, secret: secret)("DELETE", "/v1/events/derby")

            let browser = try await Browser(url: stage.url).signedIn(with: secret)
            let pages = [
                "/console", "/console/events", "/console/events/derby", "/console/apps",
                "/console/apps/\(Stage.bundleID)", Self.place + "/channels", Self.place + "/reconciliations",
                "/console/audit-log", "/console/events?kind=%3Cscript%3E%22%27",
                "/console/audit-log?actor=%22%3E%3Cscript%3E", "/console/%3Cscript%3E", "/console/events/%3Cscript%3E",
                "/console/apps/%22%3E%3Cscript%3E", "/console/sign-in?next=%2Fconsole%22%3E%3Cscript%3E",
            ]
            for path in pages {
                let body = try await browser.get(path).body
                #expect(!body.isEmpty, "\(path)")
                #expect(!body.contains("<script"), "\(path)")
                #expect(!body.contains("\u{202E}"), "\(path)")
            }
            for path in ["/console/events", "/console/events/derby", "/console/apps", Self.place + "/channels"] {
                #expect(try await browser.get(path).body.contains(Self.harmless), "\(path)")
            }
            #expect(try await browser.get("/console/audit-log").body.contains("key:" + Self.harmless))
        }
    }

    @Test func `long lists go on by cursor, with what they are narrowed by`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            for n in 10..<62 {
                let answer = try await stage.api(
                    "PUT", "/v1/events/match-\(n)",
                    #"{"name": "Match", "kind": "a&b", "channelsOpenAt": "2099-01-01T00:00:00Z", "audiences": [\#(Stage.audience(.development, .noMessageStored))]}"#
                )
                #expect(answer.status == 201)
            }
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            let first = try await browser.get("/console/events?kind=a%26b")
            #expect(first.body.components(separatedBy: "<th scope=\"row\">").count - 1 == 50)
            let link = try #require(first.body.firstMatch(of: /<a rel="next" href="([^"]+)"/)?.1)
            let next = link.replacingOccurrences(of: "&amp;", with: "&")
            #expect(next.hasPrefix("/console/events?kind=a%26b&cursor="))
            let second = try await browser.get(next)
            #expect(second.body.components(separatedBy: "<th scope=\"row\">").count - 1 == 2)
            #expect(second.body.contains("First page"))
            #expect(try await browser.get("/console/events?cursor=nonsense").status == 422)
        }
    }
}

extension String {
    /// As it stands in a page.
    fileprivate var html: String {
        replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "\"", with: "&quot;")
            .replacingOccurrences(of: "'", with: "&#39;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }
}
