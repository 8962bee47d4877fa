internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandCommand

/// The client verbs, as people type them and scripts use them: exit codes, options that are not ignored, standard
/// output for the answer alone.
@Suite(OnSharedStage(), .timeLimit(.minutes(20)))
struct CommandTests {
    fileprivate static let program = Bundle.main.bundleURL.appending(path: "grandstand")

    @Test func `event put with one audience keeps the event's other audiences and that audience's other members`()
        async throws
    {
        let stage = try Stage.own()
        let app = Stage.bundleID
        try await stage.putApp()
        func audiences() async throws -> [JSON] {
            try await stage.shown("/v1/events/\(stage.event)")["audiences"]?.items ?? []
        }
        let production =
            #"{"bundleId": "\#(app)", "environment": "production", "storagePolicy": "noMessageStored", "priority": 5}"#
        try await stage.putEvent(nil, [Stage.audience(), production])
        try await stage.grandstand(
            "event", "put", stage.event, "--audience", "\(app):production:mostRecentMessageStored",
            "--audience", "\(app):production:noMessageStored:de")
        let changed = try await audiences()
        #expect(
            changed.map { one in ["environment", "storagePolicy", "variant"].compactMap { one[$0]?.string } } == [
                ["development", "noMessageStored"], ["production", "mostRecentMessageStored"],
                ["production", "noMessageStored", "de"],
            ])
        #expect(changed.map { $0["priority"]?.int } == [nil, 5, nil])
        try await stage.grandstand("event", "put", stage.event, "--audience", "\(app):development:tokens")
        #expect(try await audiences().first?["delivery"]?.string == "tokens")
        // An audience is removed only if `--fields` gives the whole list of the remaining audiences.
        let rest = #"{"audiences": [\#(Stage.audience())]}"#
        try await stage.grandstand("event", "put", stage.event, "--fields", rest)
        #expect(try await audiences().count == 1)
    }

    @Test func `the command line cancels an event with an end, and reopens it`() async throws {
        let stage = try Stage.own()
        try await stage.putLiveEvent()
        try await stage.grandstand("event", "cancel", stage.event, "--end")
        let ends = try await stage.shown("/v1/events/\(stage.event)/broadcasts")["items"]?.items ?? []
        #expect(ends.map { $0["event"]?.string } == ["end"])
        let reopened = try await stage.grandstand(
            "event", "reopen", stage.event, "--audience", "\(Stage.bundleID):development")
        #expect(reopened.text.contains("kept") && reopened.text.contains("warnings"))
    }

    @Test func `errors name a refusal's fields, the place in invalid JSON, and the refused items of a batch`()
        async throws
    {
        let stage = try Stage.own()
        try await stage.putLiveEvent()
        let state = try await stage.grandstand(
            "broadcast", "send", stage.event, "--content-state", "[1]", exitCode: 1)
        #expect(state.text.contains("/contentState: An object was expected"))
        let json = try await stage.grandstand(
            "broadcast", "send", stage.event, "--content-state", "{\"a\":", exitCode: 1)
        #expect(json.text.hasPrefix("Error: --content-state: The text ends where a value was expected"))
        let odd = try await stage.grandstand("event", "put", stage.event, "--fields", "[]", exitCode: 1)
        #expect(odd.text == "Error: --fields: a JSON object was expected\n")
        let absent = "No such event: There is no event nope."
        for words in [["event", "get", "nope"], ["call", "getEvent", "key=nope"]] {
            let missing = try await stage.grandstand(words[0], words[1], words[2], exitCode: 1)
            #expect(missing.text == "Error: \(absent) Declare it with PUT /v1/events/nope first.\n")
        }
        let good = #"{"eventKey": "\#(stage.event)", "event": "update", "contentState": {}}"#
        let batch = #"{"items": [\#(good), {"eventKey": "nope", "event": "end"}]}"#
        let sent = try await stage.grandstand("broadcast", "batch", batch, exitCode: 1)
        #expect(sent.text.contains("Error: 1 of 2 were refused:\n  /items/1 (nope): \(absent)"), "\(sent.text)")
        try await stage.grandstand("broadcast", "batch", #"{"items": [\#(good)]}"#)
    }

    @Test func `the command line changes what it is told, and nothing else, also if commands run at the same time`()
        async throws
    {
        let stage = try Stage.own()
        let name = "com.example.Verb"
        try await stage.grandstand(
            "app", "put", name, "--name", "Verb", "--team", "TEAM123456", "--key", "KEY1234567",
            "--limit", "77", "--override", "production::KEY7654321")
        try await stage.grandstand("app", "put", name, "--name", "Renamed")
        try await stage.grandstand("app", "put", name, "--override", "development:TEAM000000:")
        let app = try await stage.shown("/v1/apps/\(name)")
        #expect(app["name"]?.string == "Renamed" && app["channelLimit"]?.int == 77)
        #expect(app["environments"]?["production"]?["keyId"]?.string == "KEY7654321")
        #expect(app["environments"]?["development"]?["teamId"]?.string == "TEAM000000")

        try await stage.putLiveEvent()
        let changes = [["--name", "New"], ["--kind", "cup"], ["--metadata", #"{"a": 1}"#]]
        _ = try await concurrently(changes.count) { n in
            try await stage.grandstand("event", "put", stage.event, changes[n][0], changes[n][1])
        }
        let event = try await stage.shown("/v1/events/\(stage.event)")
        #expect(event["name"]?.string == "New" && event["kind"]?.string == "cup")
        #expect(event["metadata"]?["a"]?.int == 1)
        let raw = try await stage.grandstand("call", "patchEvent", "key=\(stage.event)", #"{"name": "Cup"}"#)
        #expect(raw.text.contains(#""name":"Cup""#), "\(raw.text)")
    }

    @Test func `a broadcast can be scheduled relative to its event's start, and waiting lasts until it was sent`()
        async throws
    {
        let stage = try Stage.own()
        try await stage.putLiveEvent()
        func send(_ time: String, _ more: String) async throws -> String {
            try await stage.grandstand(
                "broadcast", "send", stage.event, "--content-state", "{}", "--send-at", time, more
            ).text
        }
        // A command that starts after the time, because the machine is slow, shows no time.
        var isShown = false
        for seconds in [6.0, 60, 600] where !isShown {
            let at = Date(timeIntervalSinceNow: seconds).formatted(.iso8601)
            let sent = try await send(at, "--wait")
            #expect(sent.contains("1 accepted"), "\(sent)")
            isShown = sent.contains("scheduled: waits until \(at.dropLast())")
        }
        #expect(isShown, "It never showed until when it waits.")
        let start = Date(timeIntervalSinceNow: 7_200).formatted(.iso8601)
        try await stage.grandstand("event", "put", stage.event, "--starts-at", start)
        for form in ["start+1h", "start+90", "start", "start-10m"] { _ = try await send(form, "--json") }
        let scheduled = try await stage.shown("/v1/events/\(stage.event)/broadcasts?scheduled=true")["items"]?.items
        #expect(scheduled?.map { $0["afterStart"]?.int } == [-600, 0, 90, 3_600])
    }

    @Test func `the command line waits for results, changes single fields, and fits tables to the terminal`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            let audience = "\(Stage.bundleID):development:noMessageStored"
            let put = try await stage.grandstand(
                "event", "put", "derby", "--name", "Derby", "--audience", audience, "--topic", "team:rapid",
                "--wait")
            #expect(put.text.contains("channels: 1 of 1"))
            let sent = try await stage.grandstand("broadcast", "send", "derby", "--content-state", "{}", "--wait")
            #expect(sent.text.contains("1 accepted"), "\(sent.text)")
            let wide = try await stage.grandstand("event", "list")
            #expect(wide.text.contains("key    state"))
            let narrow = try await stage.grandstand("event", "list", columns: 30)
            #expect(narrow.text.contains("\nname"), "\(narrow.text)")
            #expect(narrow.text.split(separator: "\n").allSatisfy { $0.count <= 40 })
            try await stage.grandstand(
                "event", "patch", "derby", "--name", "Final", "--topic", "team:austria", "--channels-open-before",
                "60", "--starts-at", "2099-01-01T00:00:00Z", "--fields", #"{"kind": null}"#, "--json")
            let event = try await stage.shown("/v1/events/derby")
            #expect(event["name"]?.string == "Final" && event["kind"] == nil)
            #expect(event["topics"]?.items.compactMap(\.string) == ["team:austria"])
            #expect(event["channelsOpenBefore"]?.int == 60 && event["audiences"]?.items.count == 1)
            let both = try await stage.grandstand(
                "event", "patch", "derby", #"{"name": "Cup", "kind": "cup"}"#, "--name", "Semifinal", "--wait")
            #expect(both.text.contains("channels: 1 of 1"), "\(both.text)")
            let last = try await stage.shown("/v1/events/derby")
            #expect((last["name"]?.string, last["kind"]?.string) == ("Semifinal", "cup"))
            let nothing = try await stage.grandstand("event", "patch", "derby", exitCode: 1)
            #expect(nothing.text.contains("nothing to change"), "\(nothing.text)")
            // On a busy machine the database may count as slow for a second.
            try await until("the server is ready") {
                try await stage.grandstand("server", "ready", exitCode: nil).exitCode == 0
            }
            #expect(try await stage.grandstand("audit", "--action", "event.created").text.contains("derby"))
        }
    }

    @Test func `the first key in a new data directory is printed with advice for servers with another database`()
        async throws
    {
        let folder = try TemporaryFolder()
        for isFirst in [true, false] {
            let made = try await Program.run(
                Self.program, ["keys", "create", "--name", "me", "--scope", "admin"],
                environment: ["GRANDSTAND_DATA_DIR": folder.path + "/data"])
            #expect(made.exitCode == 0, "\(made.text)")
            #expect(made.text.contains("gs_"))
            #expect(made.text.contains("grandstand key create") == isFirst, "\(made.text)")
        }
        let asked = try await Program.run(Self.program, ["event", "list"], environment: [:])
        #expect(asked.exitCode == 1)
        #expect(asked.text.contains("on the server's machine"), "\(asked.text)")
    }

    @Test func `the manual page describes every command of the program`() async throws {
        let manual = try await Program.run(Stage.root.appending(path: "scripts/manual"), [Self.program.path, "1.2.3"])
        #expect(manual.exitCode == 0, "\(manual.text)")
        #expect(manual.text.contains("Grandstand 1.2.3") && !manual.text.contains("@VERBS@"))
        let verbs = try await Program.run(Self.program, ["help"]).text.matches(of: /(?m)^  ([a-z]+) +[A-Z]/).map {
            String($0.output.1)
        }
        #expect(verbs.count > 20)
        for verb in verbs { #expect(manual.text.contains(".B \(verb)\n"), "\(verb)") }
    }
}

extension Stage {
    /// Runs the program that was built with these tests, as a person does, against this server.
    ///
    /// - Parameter code: the expected exit code.
    func grandstand(
        _ arguments: [String], columns: Int = 200, exitCode code: Int32? = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Program.Output {
        let environment = [
            "GRANDSTAND_URL": url, "GRANDSTAND_API_KEY": api.secret ?? "", "COLUMNS": String(columns),
        ]
        let output = try await Program.run(CommandTests.program, arguments, environment: environment)
        if let code { #expect(output.exitCode == code, "\(output.text)", sourceLocation: sourceLocation) }
        return output
    }

    @discardableResult
    fileprivate func grandstand(
        _ arguments: String..., columns: Int = 200, exitCode: Int32? = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Program.Output {
        try await grandstand(arguments, columns: columns, exitCode: exitCode, sourceLocation: sourceLocation)
    }
}

/// `grandstand season`, as a person or a timer runs it, against a server.
extension CommandTests {
    /// A season's declaration (`bl1.json`), its calendar file, and the command that uses them.
    private struct Desk {
        let stage: Stage
        let folder: TemporaryFolder

        init(_ stage: Stage) async throws {
            self.stage = stage
            folder = try TemporaryFolder()
            try await stage.putApp()
            try folder.write(
                #"""
                {"season": "\#(stage.event)", "format": "ics", "eventKey": "\#(stage.event):{uid}", "topics": ["team:{home}"],
                 "defaultDuration": 6300, "channelsOpenBefore": 3600, "source": "\#(folder.path)/calendar",
                 "audiences": [\#(Stage.audience(.production, .mostRecentMessageStored))]}
                """#, to: "bl1.json")
        }

        func save(_ season: Season) throws {
            try Data(season.ics()).write(to: URL(filePath: folder.file("calendar")))
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

        func run(_ verb: String, _ more: [String] = []) async throws -> (code: Int32, json: JSON, text: String) {
            let output = try await stage.grandstand(
                ["season", verb, folder.file("bl1.json"), "--json"] + more, exitCode: nil)
            // Problems are on standard error, too.
            let json = output.text.split(separator: "\n").filter { !$0.hasPrefix("Problem") }.joined(separator: "\n")
            return (output.exitCode, JSON(json.utf8), output.text)
        }

        func path(_ fixture: Season.Fixture) -> String { "/v1/events/\(stage.event):" + KeyText.folded(fixture.uid) }
    }

    /// A season that has not begun until 2035-01-06.
    private static func season(_ count: Int) -> Season {
        var season = Season(firstDay: 23_746)
        season.fixtures = Array(season.fixtures.prefix(count))
        return season
    }

    @Test func `a calendar's events are previewed, made, moved, renamed and cancelled, and hand-made changes stay`()
        async throws
    {
        let stage = try Stage.own()
        let desk = try await Desk(stage)
        var season = Self.season(25)
        try desk.save(season)
        #expect(try await desk.numbers("preview") == [0, 25, 0, 0, 0, 0])
        #expect(try await stage.shown("/v1/events?season=\(stage.event)")["items"]?.items.isEmpty == true)
        #expect(try await desk.numbers("apply") == [0, 25, 0, 0, 0, 0])
        #expect(try await desk.numbers("apply") == [0, 0, 0, 0, 25, 0])

        let patched = try await stage.api(
            "PATCH", desk.path(season.fixtures[1]), #"{"name": "The big one", "metadata": {"round": 7}}"#)
        #expect(patched.status == 200, "\(patched.text)")
        season.fixtures[0].day += 7
        season.fixtures[1].minute += 15
        season.fixtures[2].home = "FC Neu"
        season.fixtures[3].isCancelled = true
        let gone = season.fixtures.removeLast()
        try desk.save(season)
        let preview = try await desk.run("preview").json["cancel"]?.items ?? []
        #expect(Set(preview.map { $0["reason"]?.string }) == ["cancelled", "vanished"])
        #expect(try await desk.numbers("apply") == [0, 0, 3, 2, 20, 0])
        let second = try await stage.shown(desk.path(season.fixtures[1]))
        #expect(second["name"]?.string == "The big one" && second["metadata"]?["round"]?.int == 7)
        let kickOff = Date(timeIntervalSince1970: Double(season.fixtures[1].kickOff))
        #expect(second["startsAt"]?.string == RFC3339.text(kickOff))
        for fixture in [season.fixtures[3], gone] {
            #expect(try await stage.shown(desk.path(fixture))["state"]?.string == "cancelled")
        }
        #expect(try await desk.numbers("apply") == [0, 0, 0, 0, 24, 0])
        // More than a third of the future events are cancelled only on request.
        season.fixtures.removeLast(9)
        try desk.save(season)
        #expect(try await desk.numbers("apply") == [3, 0, 0, 0, 15, 1])
        #expect(try await desk.numbers("apply", "--accept-removals") == [0, 0, 0, 9, 15, 0])
    }

    @Test func `a calendar is fetched from its URL or refused, and entries that cannot be read have their lines`()
        async throws
    {
        var season = Self.season(3)
        let answers: [Receiver.Reaction] = [
            .file(season.ics()), .file(Array(repeating: 0x41, count: 5_000_000)),
            .file(season.ics(), claimed: 1_000_000),
            .answer(404), .answer(302, headers: ["location": "https://calendar.example/a.ics"]),
        ]
        try await Receiver.with(react: { number, _ in answers[min(number, answers.count - 1)] }) { receiver in
            let stage = try Stage.own()
            let desk = try await Desk(stage)
            #expect(try await desk.numbers("apply", receiver.url + "/a.ics") == [0, 3, 0, 0, 0, 0])
            for word in ["4194304", "/a.ics", "HTTP 404", "calendar.example"] {
                let refused = try await desk.run("apply", [receiver.url + "/a.ics"])
                #expect(refused.code == 1 && refused.text.contains(word), "\(word): \(refused.text)")
            }
            let plain = try await desk.run("apply", ["http://calendar.example/a.ics"])
            #expect(plain.code == 1 && plain.text.contains("only https"), "\(plain.text)")

            season.fixtures[1].zone = "W. Europe Standard Time"
            try desk.save(season)
            let result = try await desk.run("apply")
            #expect(result.code == 4 && result.text.contains("Problem on line "), "\(result.text)")
            let problem = result.json["problems"]?[0]
            #expect(problem?["line"]?.int != nil && problem?["detail"]?.string?.contains("--time-zone") == true)
            #expect(try await desk.run("apply", [desk.folder.file("none.ics")]).code == 1)
            #expect(try await desk.run("apply", ["--time-zone", "Mars/Olympus"]).code == 64)
        }
    }
}
