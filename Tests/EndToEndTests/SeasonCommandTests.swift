internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandCommand

/// `grandstand season`, as a person or a timer runs it, against a server.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct SeasonCommandTests {
    /// A season's declaration (`bl1.json`), its calendar file, and the command that uses them.
    private struct Desk {
        let stage: Stage
        let folder: TemporaryFolder

        init(_ stage: Stage, format: String = "ics") async throws {
            self.stage = stage
            folder = try TemporaryFolder()
            try await stage.putApp()
            let columns = #"""
                , "columns": {"uid": "id", "startsAt": "{date} {time}", "timeZone": "zone", "status": "state",
                    "home": "Team 1", "away": "Team 2", "summary": "{home} – {away}", "endsAt": null}
                """#
            try write(
                "bl1.json",
                Array(
                    #"""
                    {"season": "\#(stage.event)", "format": "\#(format)", "eventKey": "\#(stage.event):{uid}", "topics": ["team:{home}"],
                     "defaultDuration": 6300, "channelsOpenBefore": 3600, "source": "\#(folder.path)/calendar",
                     "audiences": [\#(stage.audience(.production, .mostRecentMessageStored))]\#(format == "csv" ? columns : "")}
                    """#.utf8))
        }

        func write(_ name: String, _ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(filePath: "\(folder.path)/\(name)"))
        }

        /// The exit code, and the numbers of created, changed, cancelled and unchanged events and of problems.
        func numbers(_ verb: String, _ more: String...) async throws -> [Int] {
            let (code, json, text) = try await run(verb, more)
            let numbers =
                [Int(code)] + ["create", "change", "cancel"].map { json[$0]?.items.count ?? -1 }
                + [json["unchanged"]?.int ?? -1, json["problems"]?.items.count ?? -1]
            if numbers.contains(-1) { Issue.record("\(text)") }
            return numbers
        }

        func run(
            _ verb: String, _ more: [String] = []
        ) async throws -> (code: Int32, json: JSON, text: String) {
            let output = try await Program.run(
                Bundle.main.bundleURL.appending(path: "grandstand"),
                ["season", verb, "\(folder.path)/bl1.json", "--json"] + more,
                environment: ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""])
            // Problems are on standard error, too.
            let json = output.text.split(separator: "\n").filter { !$0.hasPrefix("Problem") }.joined(separator: "\n")
            return (
                output.exitCode, JSON(json.utf8), output.text
            )
        }

        func event(_ fixture: Season.Fixture) async throws -> JSON {
            try await stage.api("GET", path(fixture)).json
        }

        func path(_ fixture: Season.Fixture) -> String { "/v1/events/\(stage.event):" + KeyText.folded(fixture.uid) }

        /// The keys of the season's events.
        func keys() async throws -> Set<String> {
            let list = try await stage.api("GET", "/v1/events?season=\(stage.event)&limit=200")
            return Set((list.json["items"]?.items ?? []).compactMap { $0["key"]?.string })
        }
    }

    /// A season that has not begun, whenever the test runs.
    private static func season(_ count: Int) -> Season {
        let today = Int(Date().timeIntervalSince1970) / 86_400
        var season = Season(firstDay: today + 30)
        season.fixtures = Array(season.fixtures.prefix(count))
        return season
    }

    @Test func `a calendar's events are previewed, made, moved, renamed and cancelled, and hand-made changes stay`()
        async throws
    {
        let stage = try await Stage.own()
        let desk = try await Desk(stage, format: "csv")
        var season = Self.season(25)
        func save() throws { try desk.write("calendar", season.csv()) }
        try save()
        #expect(try await desk.numbers("preview") == [0, 25, 0, 0, 0, 0])
        #expect(try await desk.keys().isEmpty)
        #expect(try await desk.numbers("apply") == [0, 25, 0, 0, 0, 0])
        #expect(try await desk.numbers("apply") == [0, 0, 0, 0, 25, 0])
        let made = try await desk.event(season.fixtures[0])
        #expect(made["name"]?.string == season.fixtures[0].title)
        #expect(made["metadata"]?["season"]?["uid"]?.string == season.fixtures[0].uid)

        let patched = try await stage.api(
            "PATCH", desk.path(season.fixtures[1]), #"{"name": "The big one", "metadata": {"round": 7}}"#)
        #expect(patched.status == 200, "\(patched.text)")
        season.fixtures[0].day += 7
        season.fixtures[1].minute += 15
        season.fixtures[2].home = "FC Neu"
        season.fixtures[3].isCancelled = true
        let gone = season.fixtures.removeLast()
        try save()
        let preview = try await desk.run("preview")
        #expect(
            Set((preview.json["change"]?.items ?? []).compactMap { $0["eventKey"]?.string })
                == Set(season.fixtures[0...2].map { stage.event + ":" + KeyText.folded($0.uid) }), "\(preview.text)")
        #expect(
            Set((preview.json["cancel"]?.items ?? []).compactMap { $0["reason"]?.string })
                == ["cancelled", "vanished"])
        #expect(try await desk.numbers("apply") == [0, 0, 3, 2, 20, 0])
        let second = try await desk.event(season.fixtures[1])
        #expect(second["name"]?.string == "The big one" && second["metadata"]?["round"]?.int == 7)
        #expect(
            second["startsAt"]?.string
                == RFC3339.text(Date(timeIntervalSince1970: Double(season.fixtures[1].kickOff))))
        for fixture in [season.fixtures[3], gone] {
            #expect(try await desk.event(fixture)["state"]?.string == "cancelled")
        }
        #expect(try await desk.numbers("apply") == [0, 0, 0, 0, 24, 0])
        // More than a third of the future events are cancelled only on request.
        season.fixtures.removeLast(9)
        try save()
        #expect(try await desk.numbers("apply") == [3, 0, 0, 0, 15, 1])
        #expect(try await desk.numbers("apply", "--accept-removals") == [0, 0, 0, 9, 15, 0])
    }

    @Test func `a calendar is fetched from its URL, and an oversized, incomplete or redirected one is refused`()
        async throws
    {
        let season = Self.season(3)
        let answers: [Receiver.Reaction] = [
            .file(season.ics()), .file(Array(repeating: 0x41, count: 5_000_000)),
            .file(season.ics(), claimed: 1_000_000),
            .answer(404), .answer(302, headers: ["location": "https://calendar.example/a.ics"]),
        ]
        try await Receiver.with(react: { number, _ in answers[min(number, answers.count - 1)] }) { receiver in
            let stage = try await Stage.own()
            let desk = try await Desk(stage)
            #expect(try await desk.numbers("apply", receiver.url + "/a.ics") == [0, 3, 0, 0, 0, 0])
            for word in ["4194304", "/a.ics", "HTTP 404", "calendar.example"] {
                let refused = try await desk.run("apply", [receiver.url + "/a.ics"])
                #expect(refused.code == 1 && refused.text.contains(word), "\(word): \(refused.text)")
            }
            let plain = try await desk.run("apply", ["http://calendar.example/a.ics"])
            #expect(plain.code == 1 && plain.text.contains("only https"), "\(plain.text)")
        }
    }

    @Test func `unreadable entries are reported with their lines, and a file that is no calendar is refused`()
        async throws
    {
        let stage = try await Stage.own()
        let desk = try await Desk(stage)
        var season = Self.season(3)
        season.fixtures[1].zone = "W. Europe Standard Time"
        try desk.write("calendar", season.ics())
        let result = try await desk.run("apply")
        #expect(result.code == 4 && result.text.contains("Problem on line "), "\(result.text)")
        #expect(result.json["problems"]?.items.first?["line"]?.int != nil, "\(result.text)")
        #expect(result.json["problems"]?.items.first?["detail"]?.string?.contains("--time-zone") == true)
        #expect(try await desk.numbers("apply", "--time-zone", "Europe/Vienna") == [0, 1, 0, 0, 2, 0])
        #expect(try await desk.run("apply", ["\(desk.folder.path)/none.ics"]).code == 1)
        #expect(try await desk.run("apply", ["--time-zone", "Mars/Olympus"]).code == 64)
    }
}
