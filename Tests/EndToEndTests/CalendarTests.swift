internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// A season through the API, the command line and the server's own refresh.
@Suite(.timeLimit(.minutes(3)))
struct CalendarTests {
    private static let declaration = #"""
        "format": "ics", "eventKey": "bl1:{uid}", "topics": ["team:{home}"], "audiences": [
        {"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "mostRecentMessageStored"}]
        """#

    /// A season that has not begun, whenever this runs.
    private static func season(_ count: Int) -> Season {
        let today = Int(Date().timeIntervalSince1970) / 86_400
        var season = Season(firstDay: today + 30)
        season.fixtures = Array(season.fixtures.prefix(count))
        return season
    }

    private static func grandstand(_ stage: Stage, _ arguments: String...) async throws -> Program.Output {
        try await Program.run(
            Bundle.main.bundleURL.appending(path: "grandstand"), arguments,
            environment: ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""])
    }

    @Test func `a file is previewed and synced from the command line`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let folder = try TemporaryFolder()
            try Data("{\(Self.declaration)}".utf8).write(to: URL(filePath: folder.path + "/bl1.json"))
            try Data(Self.season(25).ics()).write(to: URL(filePath: folder.path + "/season.ics"))
            let put = try await Self.grandstand(stage, "calendar", "put", "bl1", folder.path + "/bl1.json", "--json")
            #expect(put.exitCode == 0, "\(put.text)")
            for verb in ["preview", "sync", "preview"] {
                let output = try await Self.grandstand(
                    stage, "calendar", verb, "bl1", folder.path + "/season.ics", "--json")
                #expect(output.exitCode == 0, "\(output.text)")
            }
            #expect(try await stage.api("GET", "/v1/events?limit=200").json["items"]?.items.count == 25)
            let last = try await stage.api("GET", "/v1/calendars/bl1").json["lastSync"]
            #expect(last?["create"]?.int == 25)
            let list = try await Self.grandstand(stage, "calendar", "list")
            #expect(list.text.contains("bl1"))
            try Data("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n".utf8).write(to: URL(filePath: folder.path + "/cut.ics"))
            let cut = try await Self.grandstand(stage, "calendar", "sync", "bl1", folder.path + "/cut.ics")
            #expect(cut.exitCode == 1)
            #expect(cut.text.contains("line 2"))
        }
    }

    @Test func `a calendar with a url follows it by itself`() async throws {
        let season = Self.season(3)
        var moved = season
        moved.fixtures[0].minute += 15
        let files = [season.ics(), moved.ics()]
        try await Receiver.with(react: { number, _ in .file(files[min(number / 2, 1)]) }) { receiver in
            let settings = ["GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_WEBHOOK_NETWORKS": "127.0.0.0/8"]
            try await Stage.with(settings: settings) { stage in
                try await stage.putApp()
                let put = try await stage.api(
                    "PUT", "/v1/calendars/bl1",
                    #"{"url": "\#(receiver.url)/a.ics", "refreshEvery": 1, \#(Self.declaration)}"#)
                #expect(put.status == 201, "\(put.text)")
                // Whatever is asked for a fifth time, the third file was synced.
                _ = await receiver.wait(for: 5)
                let key = "bl1:" + KeyText.folded(season.fixtures[0].uid)
                let event = try await stage.api("GET", "/v1/events/\(key)")
                let expected = RFC3339.text(Date(timeIntervalSince1970: Double(moved.fixtures[0].kickOff)))
                // Summer or winter, a quarter of an hour later than the first file said.
                #expect(event.status == 200)
                #expect(event.json["startsAt"]?.string?.suffix(10) == expected.suffix(10))
                let calendar = try await stage.api("GET", "/v1/calendars/bl1")
                #expect(calendar.json["failure"]?.string == nil)
                #expect(calendar.json["lastSync"]?["by"]?.string == "grandstand")
            }
        }
    }
}
