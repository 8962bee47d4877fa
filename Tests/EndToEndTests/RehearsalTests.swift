internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import MatchDriver
internal import Testing

/// The dress rehearsal, as a person asks for it: `grandstand rehearse`.
@Suite(.timeLimit(.minutes(5)))
struct RehearsalTests {
    private static let program = Bundle.main.bundleURL.appending(path: "grandstand")
    private static let day = "2031-05-10"
    /// The day takes some seconds: slow enough for channels to be created in time on a machine that runs other tests.
    private static let pace = ["--day", day, "--speed", "120", "--messages", "10", "--phones", "20"]

    /// Three events of twenty minutes, five minutes apart; the first is started by push.
    private static func declare(on stage: Stage, channelLimit: Int = 10_000) async throws {
        try await stage.putApp(channelLimit: channelLimit)
        for (number, key) in ["cup:1", "cup:2", "league:3"].enumerated() {
            let start =
                number > 0
                ? ""
                : #""topics": ["team:home"], "start": {"attributesType": "Match", "attributes": {},"#
                    + #""contentState": {"home": 0}, "alert": {"title": "Kick-off", "body": "Now"}},"#
            let answer = try await stage.api(
                "PUT", "/v1/events/\(key)",
                """
                {"name": "Match", "startsAt": "\(day)T12:\(["00", "05", "10"][number]):00Z", \(start)
                 "endsAt": "\(day)T12:\(20 + number * 5):00Z",
                 "audiences": [\(Stage.audience(.production, .mostRecentMessageStored))]}
                """)
            try #require(answer.status == 201, "\(answer.text)")
        }
    }

    /// The settings of a rehearsal. The rehearsal's files are in `folder`, so a test sees whether the rehearsal leaves
    /// any file behind.
    private static func environment(_ folder: TemporaryFolder, _ more: [String: String]) -> [String: String] {
        ProcessInfo.processInfo.environment.filter { $0.key == "PATH" }
            .merging(["TMPDIR": folder.path, "GRANDSTAND_LANE_INTERVAL": "0.1"]) { $1 }.merging(more) { $1 }
    }

    private static func rehearse(_ arguments: [String], _ settings: [String: String]) async throws -> JSON {
        let folder = try TemporaryFolder()
        let output = try await Program.run(
            program, ["rehearse"] + pace + arguments + ["--json"], environment: environment(folder, settings))
        try #require(output.exitCode == 0, "\(output.text)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let report = output.text.split(separator: "\n").last { $0.hasPrefix("{") }
        return try JSONDecoder().decode(JSON.self, from: Data(try #require(report).utf8))
    }

    @Test func `a rehearsal plays a day of a server's events within its limits and changes nothing there`() async throws
    {
        try await Stage.with { stage in
            try await Self.declare(on: stage, channelLimit: 2)
            let report = try await Self.rehearse(
                [], ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""])
            #expect(report["day"]?.string == Self.day)
            #expect(report["events"]?.items.compactMap(\.string).sorted() == ["cup:1", "cup:2", "league:3"])
            #expect(report["runs"]?.items.count == 1)
            let run = try #require(report["runs"]?[0])
            #expect(run["fault"] == nil)
            #expect(run["places"]?.items.count == 1)
            #expect(run["places"]?[0]?["limit"]?.int == 2)
            #expect(run["places"]?[0]?["peak"]?.int == 2)
            // The last event to start finds no place for its channel.
            let refused = try #require(run["refused"]?.items)
            #expect(refused.map { $0["eventKey"]?.string } == ["league:3"])
            #expect(refused.first?["action"]?.string == "channel")
            #expect(refused.first?["problem"]?.string == "quota-exhausted")
            #expect(run["messages"]?["accepted"]?.int == 33)
            #expect((2...22).contains(run["messages"]?["reachedApple"]?.int ?? 0))
            #expect(run["starts"]?["followers"]?.int == 20)
            #expect(run["starts"]?["accepted"]?.int == 20)
            #expect((1...20).contains(run["starts"]?["peakPerSecond"]?.int ?? 0))
            #expect(run["delay"]?["count"]?.int == 22)
            #expect(run["gap"]?["eventKey"]?.string?.hasPrefix("cup:") == true)
            #expect(run["lost"]?.items.isEmpty == true)
            #expect(stage.simulator.journal().allSatisfy { !$0.request.isBroadcast })
            #expect(try await stage.api("GET", "/v1/events/cup:1").json["state"]?.string == "scheduled")
        }
    }

    @Test(arguments: ["outage", "replica", "database"])
    func `a rehearsal with a fault loses no message, with events from the configured database`(_ fault: String)
        async throws
    {
        try await Stage.place { environment, _ in
            let database = try #require(environment["DATABASE_URL"])
            let server = try await ServerProcess.start(environment)
            let api = HTTPCaller(url: server.url, secret: try await Stage.secret(environment))
            try await Stage.putApp(api)
            for key in ["cup:1", "cup:2", "other"] {
                let answer = try await api(
                    "PUT", "/v1/events/\(key)",
                    """
                    {"name": "Match", "startsAt": "\(Self.day)T12:00:00Z", "endsAt": "\(Self.day)T12:20:00Z",
                     "audiences": [\(Stage.audience(.production, .noMessageStored))]}
                    """)
                try #require(answer.status == 201, "\(answer.text)")
            }
            await server.terminate()

            let report = try await Self.rehearse(
                ["--fault", fault, "--events", "cup:*"], ["DATABASE_URL": database])
            #expect(report["events"]?.items.compactMap(\.string).sorted() == ["cup:1", "cup:2"])
            #expect(report["others"]?.int == 1)
            let runs = try #require(report["runs"]?.items)
            #expect(runs.map { $0["fault"]?["kind"]?.string } == [nil, fault])
            for run in runs {
                #expect(run["lost"]?.items.isEmpty == true)
                #expect(run["messages"]?["accepted"]?.int == 22)
                #expect(run["delay"]?["count"]?.int == 22)
            }
            // This checks only the run without the fault. With the fault, a channel may be late, and the report says
            // so.
            #expect(runs[0]["refused"]?.items.isEmpty == true)
            #expect(runs[0]["places"]?[0]?["peak"]?.int == 3)
            if fault == "outage" {
                let outage = try #require(runs[1]["fault"]?["seconds"]?.number)
                // Each event gets an update every second. The first update that APNs refuses has to wait until the
                // outage is over.
                #expect(try #require(runs[1]["gap"]?["seconds"]?.number) > outage - 1)
            }
        }
    }

    /// A content type. The messages of the first event have the content of its start, which version 3.2 of the app
    /// cannot decode.
    private static let type = #"""
        {"versions": [{"name": "3.2", "schema": {"required": ["away"],
            "properties": {"home": {"type": "integer"}, "away": {"type": "integer"}}}}],
         "rules": {"rings": [{"when": {"increases": "/home"}, "alert": {"title": "Goal"}}]}}
        """#

    @Test func `a rehearsal reports undecodable contents, the outcomes of states, and urgent messages`() async throws {
        try await Stage.with { stage in
            try await Self.declare(on: stage)
            let type = try await stage.api("PUT", "/v1/apps/\(Stage.bundleID)/contents/Match", Self.type)
            try #require(type.status == 201, "\(type.text)")
            let access = ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""]
            let run = try #require(try await Self.rehearse([], access)["runs"]?[0])
            #expect(run["refused"]?.items.isEmpty == true, "\(run)")
            #expect(run["lost"]?.items.isEmpty == true)
            // Of ten states, the first has the outcome `update` and one has `rings`. The others change only the
            // rehearsal's mark, so their outcome is `quiet`.
            let states = run["messages"]?["states"]
            #expect(["quiet", "update", "rings", "end"].map { states?[$0]?.int } == [24, 3, 3, 3])
            #expect(run["urgent"]?["count"]?.int == 9)
            #expect(run["urgent"]?["mostPerHour"]?.int == 3)
            #expect(run["contents"]?["checked"]?.int == 33)
            #expect(run["contents"]?["undecodable"]?.int == 11)
            #expect(run["contents"]?["faults"]?[0]?["count"]?.int == 11)
            #expect(run["contents"]?["faults"]?[0]?["eventKey"]?.string == "cup:1")
            #expect(
                run["contents"]?["faults"]?[0]?["detail"]?.string
                    == "/contentState/away: away is required. \(Stage.bundleID) 3.2 cannot decode this.")
        }
    }

    @Test func `a recorded feed is played for every event, and repeated states are not sent`() async throws {
        try await Stage.with { stage in
            try await Self.declare(on: stage)
            let folder = try TemporaryFolder()
            let states = [(0, 0), (30, 0), (60, 1), (90, 1), (120, 1)]
            let lines = states.map { #"{"at": \#($0.0), "contentState": {"home": \#($0.1)}}"# }
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: folder.path + "/feed"))
            let access = ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""]
            let run = try #require(
                try await Self.rehearse(["--feed", folder.path + "/feed"], access)["runs"]?[0])
            let outcomes = run["messages"]?["states"]
            #expect(["unchanged", "update", "end"].map { outcomes?[$0]?.int } == [6, 6, 3])
            #expect(run["contents"]?["checked"]?.int == 0)
            #expect(run["lost"]?.items.isEmpty == true)
        }
    }

    @Test func `ctrl-C ends a rehearsal and everything that it started`() async throws {
        try await Stage.with { stage in
            try await Self.declare(on: stage)
            let folder = try TemporaryFolder()
            let (process, errors) = (Process(), Pipe())
            process.executableURL = Self.program
            process.arguments = ["rehearse", "--day", Self.day, "--fault", "replica"]
            process.environment = Self.environment(
                folder, ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""])
            process.standardOutput = FileHandle.nullDevice
            process.standardError = errors
            let (endings, ending) = AsyncStream<Void>.makeStream()
            process.terminationHandler = { _ in ending.finish() }
            try process.run()
            try await until("the rehearsal has a database") {
                let folders = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                return folders.contains { name in
                    FileManager.default.fileExists(atPath: "\(folder.path)/\(name)/data/postgres/postmaster.pid")
                }
            }
            process.interrupt()
            for await _ in endings {}
            #expect(process.terminationStatus == 130)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test func `wrong input is refused with what to do`() async throws {
        try await Stage.with { stage in
            try await Self.declare(on: stage)
            let cases: [(arguments: [String], exitCode: Int32, said: String)] = [
                (["--day", "2031-02-30"], 64, "--day 2031-02-30 is not a day: write it as 2026-11-28."),
                (["--day", "10.5.2031"], 64, "is not a day"),
                (["--day", Self.day, "--speed", "0"], 64, "--speed 0.0: a number from 1 to 10000 was expected"),
                (["--day", Self.day, "--fault", "fire"], 64, "outage"),
                (["--day", Self.day, "--time-zone", "Mars"], 64, "Europe/Vienna"),
                (["--day", Self.day, "--feed", "/nowhere"], 1, "the file /nowhere cannot be read"),
                (["--day", "2031-05-11"], 1, "on 2031-05-11 (UTC); the nearest one starts at 2031-05-10"),
                (["--day", Self.day, "--events", "x*"], 1, "--events x*: no event of 2031-05-10 has such a key"),
            ]
            let folder = try TemporaryFolder()
            for (arguments, exitCode, said) in cases {
                let output = try await Program.run(
                    Self.program, ["rehearse"] + arguments,
                    environment: Self.environment(
                        folder, ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""]))
                #expect(output.exitCode == exitCode, "\(output.text)")
                #expect(output.text.contains(said), "\(output.text)")
            }
        }
    }
}
