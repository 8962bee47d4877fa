internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

/// What scripts rely on: exit codes, options that are not ignored, standard output for the answer alone.
@Suite(.timeLimit(.minutes(5)))
struct CommandScriptTests {
    private static let program = Bundle.main.bundleURL.appending(path: "grandstand")

    private func grandstand(_ stage: Stage, _ arguments: String...) async throws -> Program.Output {
        try await Program.run(
            Self.program, arguments,
            environment: ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""])
    }

    @Test func `a lookup of several events names the missing ones, and list options are refused`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            try await stage.putEvent("cup")
            try await stage.activeChannels(of: "cup")
            let app = [Stage.bundleID, "development"]
            // Lookups find a channel a moment after the channel became active.
            for key in ["derby", "cup"] {
                try await until("\(key) is looked up") {
                    try await stage.api("GET", "/v1/lookup/\(app[0])/\(app[1])/\(key)").status == 200
                }
            }
            let found = try await grandstand(stage, "lookup", app[0], app[1], "derby", "cup")
            #expect(found.exitCode == 0, "\(found.text)")
            // Until the server has read the latest changes, it answers `store-unavailable` instead of
            // `event-not-found`.
            let partly = try await until("what is missing is known") {
                let run = try await grandstand(stage, "lookup", app[0], app[1], "derby", "nope")
                return run.text.contains("store-unavailable") ? nil : run
            }
            #expect(partly.exitCode == 1)
            #expect(partly.text.contains("missing:"), "\(partly.text)")
            #expect(partly.text.contains("Error: 1 of 2 are missing: nope: event-not-found"), "\(partly.text)")
            let topic = try await grandstand(stage, "lookup", app[0], app[1], "derby", "--topic", "x", "--limit", "5")
            #expect(topic.exitCode == 64)
            #expect(topic.text.contains("--topic, --limit: allowed only for the list"), "\(topic.text)")
            for keys in [[], ["derby", "cup"]] {
                let content = try await Program.run(
                    Self.program, ["lookup"] + app + keys + ["--content-state"],
                    environment: ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": "gs_x"])
                #expect(content.exitCode == 64)
            }
        }
    }

    @Test func `a batch says which of its items were refused, and fails`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let good = #"{"eventKey": "derby", "event": "update", "contentState": {}}"#
            let batch = #"{"items": [\#(good), {"eventKey": "nope", "event": "end"}]}"#
            let sent = try await grandstand(stage, "broadcast", "batch", batch)
            #expect(sent.exitCode == 1)
            #expect(
                sent.text.contains(
                    "Error: 1 of 2 were refused:\n  /items/1 (nope): No such event: There is no event nope."),
                "\(sent.text)")
            let all = try await grandstand(stage, "broadcast", "batch", #"{"items": [\#(good)]}"#)
            #expect(all.exitCode == 0, "\(all.text)")
        }
    }

    @Test func `waiting for a scheduled broadcast lasts until it was sent, and the command shows until when`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let at = Date(timeIntervalSinceNow: 6).formatted(.iso8601)
            let sent = try await grandstand(
                stage, "broadcast", "send", "derby", "--content-state", "{}", "--send-at", at, "--wait")
            #expect(sent.exitCode == 0)
            #expect(sent.text.contains("scheduled: waits until \(at.dropLast())"), "\(sent.text)")
            #expect(sent.text.contains("1 accepted"), "\(sent.text)")
        }
    }

    @Test func `a message scheduled relative to its event's start moves with the start`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let refused = try await grandstand(
                stage, "broadcast", "send", "derby", "--content-state", "{}", "--send-at", "start-10m")
            #expect(refused.exitCode == 1)
            #expect(refused.text.contains("startsAt of the event derby"), "\(refused.text)")
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 7_200).rounded())
            func move(by seconds: Double) async throws {
                let moved = try await grandstand(
                    stage, "event", "put", "derby", "--starts-at",
                    start.addingTimeInterval(seconds).formatted(.iso8601))
                #expect(moved.exitCode == 0, "\(moved.text)")
            }
            try await move(by: 0)
            for form in ["start+1h", "start+90", "start", "start-10m"] {
                let sent = try await grandstand(
                    stage, "broadcast", "send", "derby", "--content-state", "{}", "--send-at", form)
                #expect(sent.exitCode == 0, "\(sent.text)")
            }
            try await move(by: 600)
            let scheduled = try await stage.api("GET", "/v1/events/derby/broadcasts?scheduled=true").json["items"]?
                .items
            let after = [-600, 0, 90, 3_600]
            #expect(scheduled?.map { $0["afterStart"]?.int } == after)
            #expect(
                scheduled?.map { $0["sendAt"]?.string }
                    == after.map { RFC3339.text(start.addingTimeInterval(600 + Double($0))) })
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

    @Test func `watching an event without a server reports that once and can be interrupted`() async throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Self.program
        process.arguments = ["event", "get", "derby", "--watch"]
        // Nobody listens on the port of the discard service.
        process.environment = ["GRANDSTAND_URL": "http://127.0.0.1:9", "GRANDSTAND_API_KEY": "gs_x"]
        process.standardOutput = output
        process.standardError = output
        let (texts, text) = AsyncStream<String>.makeStream()
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { text.finish() } else { text.yield(String(decoding: data, as: UTF8.self)) }
        }
        let (ends, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { end.yield($0.terminationStatus) }
        try process.run()
        var said = ""
        for await text in texts {
            said += text
            if said.contains("Trying again") { process.interrupt() }
        }
        output.fileHandleForReading.readabilityHandler = nil
        #expect(said.contains("http://127.0.0.1:9 does not answer"), "\(said)")
        #expect(said.components(separatedBy: "does not answer").count == 2, "\(said)")
        #expect(await ends.first { _ in true } == 130)
    }
}
