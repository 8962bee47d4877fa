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
            #expect(list.body.contains(#"<a href="/console/events/derby"><bdi>derby</bdi></a>"#))
            #expect(list.body.contains("1 active"))
            #expect(try await browser.get("/console/events?state=ended").body.contains("No event fits."))
            #expect(try await browser.get("/console/events?state=nonsense").status == 422)
            #expect(try await browser.get("/console/events?key=derby").header("location") == "/console/events/derby")
            #expect(try await browser.get("/console/events/none").status == 404)

            let page = try await browser.get("/console/events/derby")
            #expect(page.status == 200)
            for text in [
                channel.html, fine, refused, "Apple took it (200)", "Apple refused it: BadPriority",
                "repeating it cannot help",
                #"http-equiv="refresh" content="5""#,
            ] { #expect(page.body.contains(text), "\(text)") }
            #expect(page.body.contains("/console/events/derby/cancel"))
            let still = try await browser.get("/console/events/derby?refresh=off")
            #expect(!still.body.contains("http-equiv"))
        }
    }

    @Test func `the overview shows unmanaged channels, missing channels and the loss of all channels`() async throws {
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
            #expect(overview.body.contains("Apple has 1 channel that this server did not create"))
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
            #expect(detail.body.contains("/reconciliations/run/apply"))

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
            // When the channel was created, the server learned whether Apple accepts the capitals of the bundle ID in
            // management paths.
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
            #expect(channels.body.contains(#"<option value="active" selected>active</option>"#))
            let none = try await browser.get(Self.place + "/channels?state=failed&storagePolicy=&eventKey=")
            #expect(none.body.contains("No channel fits."))

            let log = try await browser.get("/console/audit-log?action=channel.created")
            #expect(log.body.contains(channel.html))
            #expect(log.body.contains("<bdi>201</bdi>"))
            #expect(try await browser.get("/console/audit-log?from=yesterday").status == 422)
        }
    }
}

extension String {
    /// The text as it is escaped in a page.
    var html: String {
        replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "\"", with: "&quot;")
            .replacingOccurrences(of: "'", with: "&#39;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }
}
