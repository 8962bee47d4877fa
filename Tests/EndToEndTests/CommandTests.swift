internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// The client verbs, as a person types them.
@Suite(.timeLimit(.minutes(5)))
struct CommandTests {
    /// Runs the program that was built with these tests.
    private func grandstand(_ stage: Stage, _ arguments: String...) async throws -> Program.Output {
        try await Program.run(
            Bundle.main.bundleURL.appending(path: "grandstand"), arguments,
            environment: ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""])
    }

    @Test func `an event is shown as a table, or on request as the JSON from the server`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let table = try await grandstand(stage, "event", "get", "derby")
            #expect(table.exitCode == 0)
            #expect(table.text.contains("audiences:"))
            #expect(table.text.contains("channel.state"))
            #expect(!table.text.contains("{"))
            let whole = try await grandstand(stage, "event", "get", "derby", "--json")
            let json = try JSONDecoder().decode(JSON.self, from: Data(whole.text.utf8))
            #expect(json["key"]?.string == "derby")
        }
    }

    @Test func `the error for a missing file names the file and does not explain options`() async throws {
        try await Stage.with { stage in
            let preview = try await grandstand(stage, "season", "preview", "/nowhere/cup.json")
            #expect(preview.exitCode == 1)
            #expect(preview.text == "Error: the file /nowhere/cup.json cannot be read\n")
        }
    }

    @Test func `the command line declares an audience for tokens, and cancels a waiting push`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let audience = "\(Stage.bundleID):production:noMessageStored"
            let put = try await grandstand(
                stage, "event", "put", "derby", "--name", "Derby", "--audience", "\(Stage.bundleID):production:tokens")
            #expect(put.exitCode == 0, "\(put.text)")
            let other = try await grandstand(
                stage, "event", "put", "cup", "--name", "Cup", "--audience", audience)
            #expect(other.exitCode == 0, "\(other.text)")
            for (key, delivery) in [("derby", "tokens"), ("cup", "channel")] {
                let event = try await stage.api("GET", "/v1/events/\(key)").json
                #expect(event["audiences"]?.items.first?["delivery"]?.string == delivery)
            }
            let wrong = try await grandstand(
                stage, "event", "put", "derby", "--audience", "\(Stage.bundleID):production")
            #expect(wrong.exitCode == 64)
            let push = try await stage.api(
                "POST", "/v1/apps/\(Stage.bundleID)/production/pushes",
                """
                {"token": "80abcdef", "event": "update", "contentState": {},
                 "sendAt": "\(Date(timeIntervalSinceNow: 3_600).formatted(.iso8601))"}
                """)
            let id = try #require(push.json["id"]?.string, "\(push.text)")
            #expect(try await grandstand(stage, "push", "cancel", id).exitCode == 0)
            #expect(try await stage.api("GET", "/v1/pushes/\(id)").json["state"]?.string == "cancelled")
        }
    }

    @Test func `event put with one audience keeps the event's other audiences and that audience's other members`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            let put = try await stage.api(
                "PUT", "/v1/events/derby",
                """
                {"name": "Derby", "audiences": [
                  {"bundleId": "\(Stage.bundleID)", "environment": "development", "storagePolicy": "noMessageStored"},
                  {"bundleId": "\(Stage.bundleID)", "environment": "production", "storagePolicy": "noMessageStored",
                   "priority": 5}]}
                """)
            #expect(put.status == 201, "\(put.text)")
            let changed = try await grandstand(
                stage, "event", "put", "derby", "--audience", "\(Stage.bundleID):production:mostRecentMessageStored",
                "--audience", "\(Stage.bundleID):production:noMessageStored:de")
            #expect(changed.exitCode == 0, "\(changed.text)")
            let audiences = try await stage.api("GET", "/v1/events/derby").json["audiences"]?.items ?? []
            #expect(audiences.map { $0["environment"]?.string } == ["development", "production", "production"])
            #expect(
                audiences.map { $0["storagePolicy"]?.string } == [
                    "noMessageStored", "mostRecentMessageStored", "noMessageStored",
                ])
            #expect(audiences.map { $0["priority"]?.int } == [nil, 5, nil])
            #expect(audiences.map { $0["variant"]?.string } == [nil, nil, "de"])
            // An audience is removed only if `--fields` gives the whole list of the remaining audiences.
            let rest =
                #"{"audiences": [{"bundleId": "\#(Stage.bundleID)", "environment": "development", "#
                + #""storagePolicy": "noMessageStored"}]}"#
            let fewer = try await grandstand(stage, "event", "put", "derby", "--fields", rest)
            #expect(fewer.exitCode == 0, "\(fewer.text)")
            #expect(try await stage.api("GET", "/v1/events/derby").json["audiences"]?.items.count == 1)
        }
    }

    @Test func `a lookup waits for a channel that is being made, and says so`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let opening = Date(timeIntervalSinceNow: 6).formatted(.iso8601)
            let put = try await grandstand(
                stage, "event", "put", "derby", "--name", "Derby", "--channels-open-at", opening, "--audience",
                "\(Stage.bundleID):production:noMessageStored")
            #expect(put.exitCode == 0, "\(put.text)")
            let hasty = try await grandstand(
                stage, "lookup", Stage.bundleID, "production", "derby", "--patience", "0")
            #expect(hasty.exitCode == 1)
            let found = try await grandstand(stage, "lookup", Stage.bundleID, "production", "derby")
            #expect(found.exitCode == 0, "\(found.text)")
            #expect(found.text.contains("Asking again in") && found.text.contains("channelId"), "\(found.text)")
        }
    }

    @Test func `the command line sets when channels open, cancels an event with an end, and reopens it`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let start = Date(timeIntervalSinceNow: 3_600).formatted(.iso8601)
            let put = try await grandstand(
                stage, "event", "put", "derby", "--starts-at", start, "--channels-open-before", "7200", "--defaults",
                #"{"staleAfter": 300}"#)
            #expect(put.exitCode == 0, "\(put.text)")
            let event = try await stage.api("GET", "/v1/events/derby").json
            #expect(event["channelsOpenBefore"]?.int == 7_200 && event["defaults"]?["staleAfter"]?.int == 300)
            // `--channels-open-at` replaces `--channels-open-before`.
            let moved = try await grandstand(stage, "event", "put", "derby", "--channels-open-at", start)
            #expect(moved.exitCode == 0, "\(moved.text)")
            #expect(try await grandstand(stage, "event", "cancel", "derby", "--end").exitCode == 0)
            let ends = try await stage.api("GET", "/v1/events/derby/broadcasts").json["items"]?.items ?? []
            #expect(ends.map { $0["event"]?.string } == ["end"])
            let reopened = try await grandstand(
                stage, "event", "reopen", "derby", "--audience", "\(Stage.bundleID):development")
            #expect(reopened.exitCode == 0)
            #expect(reopened.text.contains("kept") && reopened.text.contains("warnings"))
            let overdue = try await grandstand(stage, "event", "list", "--overdue", "--json")
            #expect(overdue.text.contains(#""items":[]"#))
        }
    }

    @Test func `variants are declared, sent to and looked up`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let audience = "\(Stage.bundleID):development:noMessageStored"
            let put = try await grandstand(
                stage, "event", "put", "derby", "--name", "Derby", "--audience", audience + ":de", "--audience",
                audience + ":a:b")
            #expect(put.exitCode == 0, "\(put.text)")
            let channels = try await stage.activeChannels(of: "derby")
            for (variant, channelID) in zip(["de", "a:b"], channels) {
                let found = try await grandstand(
                    stage, "lookup", Stage.bundleID, "development", "derby", "--variant", variant, "--json")
                let json = try JSONDecoder().decode(JSON.self, from: Data(found.text.utf8))
                #expect(json["channelId"]?.string == channelID, "\(found.text)")
            }
            let sent = try await grandstand(
                stage, "broadcast", "send", "derby", "--content-state", "{}", "--by-variant",
                #"{"de": {"contentState": {"n": 1}}}"#, "--audience", "\(Stage.bundleID):development:de", "--json")
            let json = try JSONDecoder().decode(JSON.self, from: Data(sent.text.utf8))
            #expect(json["deliveries"]?.items.compactMap { $0["variant"]?.string } == ["de"], "\(sent.text)")
            #expect(try await stage.sent(1).first?.json["aps"]?["content-state"]?["n"]?.int == 1)
        }
    }

    @Test func `errors name a refusal's fields, the place in invalid JSON, or the wrong option`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let state = try await grandstand(stage, "broadcast", "send", "derby", "--content-state", "[1]")
            #expect(state.exitCode == 1)
            #expect(state.text.contains("/contentState: An object was expected"))
            let json = try await grandstand(stage, "broadcast", "send", "derby", "--content-state", "{\"a\":")
            #expect(json.exitCode == 1)
            #expect(json.text.hasPrefix("Error: --content-state: The text ends where a value was expected"))
            let usage = try await grandstand(stage, "event", "put", "derby", "--name", "x", "--audience", "a")
            #expect(usage.exitCode == 64)
            let missing = try await grandstand(stage, "event", "get", "nope")
            #expect(
                missing.text
                    == "Error: No such event: There is no event nope. Declare it with PUT /v1/events/nope first.\n")
        }
    }
}
