internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import JSON
internal import Testing

/// A match day by plain forms, as a browser without scripts sends them: over a real server, a database and the
/// simulator.
@Suite(.timeLimit(.minutes(5)))
struct ConsoleMatchTests {
    private static let place = "/console/apps/\(Stage.bundleID)/development"

    @Test func `a match is declared, ended and reopened, and its messages previewed and withdrawn, on its page`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.api(
                "PUT", "/v1/apps/\(Stage.bundleID)",
                """
                {"name": "Stadium", "teamId": "\(SimulatorIdentity.teamID)", "keyId": "\(SimulatorIdentity.keyID)",
                 "preview": {"compact": "{{home}} – {{away}}", "expanded": "{{minute}}′"}}
                """)
            try #require(app.status == 200, "\(app.text)")
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            try await browser.submit(
                "/console/season/declare", on: "/console/season/declare",
                [
                    ("key", "derby"), ("name", "Derby <b>"),
                    ("audiences", "\(Stage.bundleID) development noMessageStored"),
                ])
            try await stage.activeChannels(of: "derby")

            let match = "/console/events/derby"
            let goal = [("event", "update"), ("contentState", #"{"home": 1, "away": 0, "minute": 23}"#)]
            let preview = try await browser.send(match + "/preview", on: match, goal)
            #expect(preview.status == 200)
            for text in ["1 – 0", "of 5,120 bytes", "It goes at once", "&quot;content-state&quot;"] {
                #expect(preview.body.contains(text), "\(text)")
            }
            #expect(stage.simulator.journal().count { $0.request.isBroadcast } == 0)
            try await browser.submit(match + "/send", on: match, goal)
            let page = try await browser.page(match, containing: "Apple took it (200)")
            for text in ["1 – 0", "23′", "Derby &lt;b&gt;", "<span class=\"latency\">", "<bdi>test</bdi>"] {
                #expect(page.body.contains(text), "\(text)")
            }

            // The form for the next update is prefilled with the content that people see now. A scheduled update is
            // withdrawn.
            let composer = try await browser.get(match)
            #expect(composer.body.contains("&quot;home&quot;: 1,"))
            let later = RFC3339.text(Date().addingTimeInterval(3_600))
            try await browser.submit(
                match + "/send", on: match, [("contentState", #"{"home": 9}"#), ("sendAt", later)])
            let scheduled = try await browser.page(match, containing: "/withdraw\"")
            let action = try #require(
                scheduled.body.components(separatedBy: "action=\"").dropFirst()
                    .compactMap { $0.components(separatedBy: "\"").first }.first { $0.hasSuffix("/withdraw") })
            try await browser.submit(action, on: match)
            #expect(try await browser.get(match).body.contains("<span class=\"state\">cancelled</span>"))

            // The page asks for confirmation before it sends an end. Then the ended event is reopened.
            let question = try await browser.send(match + "/send", on: match, [("event", "end")])
            #expect(question.status == 200 && question.body.contains("Is it really over?"))
            try await browser.submit(match + "/send", on: match, [("event", "end"), ("confirmed", "yes")])
            #expect(try await stage.api("GET", "/v1/events/derby").json["state"]?.string == "ended")
            _ = try await browser.page(match, containing: "Reopen")
            try await browser.submit(match + "/reopen", on: match + "/reopen")
            #expect(try await stage.api("GET", "/v1/events/derby").json["state"]?.string == "live")

            // What the API refuses is told on the page.
            let long = #"{"a": "\#(String(repeating: "a", count: 6_000))"}"#
            let refused = try await browser.send(match + "/send", on: match, [("contentState", long)])
            #expect(refused.status == 413 && refused.body.contains("Apple takes 5120"))
            try await browser.submit(match + "/cancel", on: match + "/cancel", [("end", "true")])
            #expect(try await stage.api("GET", "/v1/events/derby").json["state"]?.string == "cancelled")
        }
    }

    @Test func `the season's page has the events by day, of all seasons or of one`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            let day = RFC3339.text(Date().addingTimeInterval(3 * 86_400)).prefix(10)
            for (key, season) in [("cup:1", "cup"), ("league:1", "league")] {
                let put = try await stage.api(
                    "PUT", "/v1/events/\(key)",
                    """
                    {"name": "\(season) <i>", "startsAt": "\(day)T14:30:00Z", "metadata": {"season": {"name": "\(season)"}},
                     "audiences": [\(Stage.audience(.development, .noMessageStored))]}
                    """)
                #expect(put.status == 201, "\(put.text)")
            }
            let all = try await browser.get("/console/season")
            #expect(all.body.contains("cup &lt;i&gt;") && all.body.contains("league &lt;i&gt;"))
            for path in ["/console/season?season=cup", "/console/events?season=cup"] {
                let one = try await browser.get(path)
                #expect(one.body.contains("cup &lt;i&gt;") && !one.body.contains("league &lt;i&gt;"), "\(path)")
            }
            #expect(try await stage.api("GET", "/v1/events?season=a%20b").status == 422)
            try await browser.submit(
                "/console/events/cup%3A1/move", on: "/console/events/cup%3A1", [("startsAt", "\(day)T15:00")])
            #expect(
                try await stage.api("GET", "/v1/events/cup:1").json["startsAt"]?.string == "\(day)T15:00:00.000Z")
        }
    }

    @Test func `the console shows a reconciliation before applying it, and imports an unmanaged channel`() async throws
    {
        let quiet = ["GRANDSTAND_RECONCILE_INTERVAL": "0", "GRANDSTAND_RECONCILE_GRACE": "0"]
        try await Stage.with(settings: quiet) { stage in
            try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let lost = try #require(try await stage.activeChannels(of: "derby").first)
            let strays = try await AppleConsole.with(stage.simulator) { console in
                try await console.delete(lost)
                return [try await console.create(), try await console.create()]
            }
            let browser = try await Browser(url: stage.url).signedIn(with: stage.api.secret)
            let list = Self.place + "/reconciliations"
            let looked = try await browser.submit(list + "/run/look", on: list)
            let plan = try await browser.get(looked)
            for text in ["mark-missing", "Apple no longer has this channel", "not done", strays[0].html] {
                #expect(plan.body.contains(text), "\(text)")
            }
            let question = try await browser.get(list + "/run/apply")
            #expect(question.body.contains("carries the plan out"))
            let applied = try await browser.submit(list + "/run/apply", on: list + "/run/apply")
            #expect(try await browser.get(applied).body.contains("The actions were carried out."))

            let channels = Self.place + "/channels"
            try await browser.submit(
                channels + "/import", on: channels + "?managed=false", [("channelId", strays[0])])
            #expect(try await browser.get(channels).body.contains(strays[0].html))
            // An action that cannot be undone asks for the key once more.
            let run = list + "/run/delete-unmanaged"
            #expect(try await browser.send(run, on: run).status != 303)
            try await browser.submit(run, on: run, [("currentKey", stage.api.secret ?? "")])
            #expect(!stage.atApple().contains { $0.id == strays[1] })
        }
    }
}

extension Browser {
    /// Sends a form of the page at `page`, with the token of that page.
    func send(_ path: String, on page: String, _ form: [(String, String)] = []) async throws -> Answer {
        let body = try await get(page).body
        let token = body.components(separatedBy: #"name="token" value=""#).dropFirst().first?
            .components(separatedBy: "\"").first
        guard let token else { throw NeverHappened(what: "a form on \(page); instead: \(body)") }
        return try await post(path, form.map { (name: $0.0, value: $0.1) } + [(name: "token", value: token)])
    }

    /// Sends a form of the page at `page`, with the token of that page, and requires that the form is carried out.
    /// Returns the path that the answer redirects to.
    @discardableResult
    func submit(_ path: String, on page: String, _ form: [(String, String)] = []) async throws -> String {
        let answer = try await send(path, on: page, form)
        guard answer.status == 303, let place = answer.header("location") else {
            throw NeverHappened(what: "\(path) was carried out; instead: \(answer.status) \(answer.body)")
        }
        return place
    }

    /// Waits until the page contains `text`, and returns the page.
    func page(_ path: String, containing text: String) async throws -> Answer {
        try await until("\(path) says \(text)") {
            let answer = try await get(path)
            return answer.body.contains(text) ? answer : nil
        }
    }
}
