internal import Foundation
internal import Grandstand
internal import Testing

/// The client verbs, as a person types them.
@Suite(.timeLimit(.minutes(5)))
struct CommandTests {
    /// Runs the program that was built with these tests; what it wrote, and how it ended.
    private func grandstand(_ stage: Stage, _ arguments: String...) async throws -> (said: String, status: Int32) {
        let process = Process()
        let output = Pipe()
        process.executableURL = Bundle.main.bundleURL.appending(path: "grandstand")
        process.arguments = arguments
        process.environment = ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (String(decoding: data, as: UTF8.self), process.terminationStatus)
    }

    @Test func `an event is shown with a table of its audiences, or as the JSON that came`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let (table, status) = try await grandstand(stage, "event", "get", "derby")
            #expect(status == 0)
            #expect(table.contains("audiences:"))
            #expect(table.contains("channel.state"))
            #expect(!table.contains("{"))
            let (text, _) = try await grandstand(stage, "event", "get", "derby", "--json")
            let json = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
            #expect(json["key"]?.string == "derby")
        }
    }

    @Test func `a refusal names the fields, wrong JSON the place, wrong usage the option`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let state = try await grandstand(stage, "broadcast", "send", "derby", "--content-state", "[1]")
            #expect(state.status == 1)
            #expect(state.said.contains("/contentState: An object was expected"))
            let json = try await grandstand(stage, "broadcast", "send", "derby", "--content-state", "{\"a\":")
            #expect(json.status == 1)
            #expect(json.said.hasPrefix("Error: --content-state: The body ends where a value should stand"))
            let usage = try await grandstand(stage, "event", "put", "derby", "--name", "x", "--audience", "a")
            #expect(usage.status == 64)
            let missing = try await grandstand(stage, "event", "get", "nope")
            #expect(missing.said == "Error: No such event: There is no event nope.\n")
        }
    }
}
