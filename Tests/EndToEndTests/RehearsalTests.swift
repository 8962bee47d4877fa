internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import MatchDriver
internal import Testing

/// The dress rehearsal, as a person asks for it: `grandstand rehearse`.
@Suite(.timeLimit(.minutes(20)))
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

    @Test func `a rehearsal with a fault loses no message, with events from the configured database`() async throws {
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
                ["--fault", "replica", "--events", "cup:*"], ["DATABASE_URL": database])
            #expect(report["events"]?.items.compactMap(\.string).sorted() == ["cup:1", "cup:2"])
            #expect(report["others"]?.int == 1)
            let runs = try #require(report["runs"]?.items)
            #expect(runs.map { $0["fault"]?["kind"]?.string } == [nil, "replica"])
            for run in runs {
                #expect(run["lost"]?.items.isEmpty == true)
                #expect(run["messages"]?["accepted"]?.int == 22)
                #expect(run["delay"]?["count"]?.int == 22)
            }
            // This checks only the run without the fault. With the fault, a channel may be late, and the report says
            // so.
            #expect(runs[0]["refused"]?.items.isEmpty == true)
            #expect(runs[0]["places"]?[0]?["peak"]?.int == 3)
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
}
