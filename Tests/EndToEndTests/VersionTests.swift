internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// `ETag` and `If-Match` of objects that people change, and the commands of `grandstand` that use them.
@Suite(.timeLimit(.minutes(3)))
struct VersionTests {
    private func grandstand(_ stage: Stage, _ arguments: String...) async throws -> Program.Output {
        try await Program.run(
            Bundle.main.bundleURL.appending(path: "grandstand"), arguments,
            environment: ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""])
    }

    @Test func `a change based on an outdated version is refused, so no change is undone unseen`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let tag = try #require(try await stage.api("GET", "/v1/events/derby").headers["etag"])
            let audiences = "[\(Stage.audience(.development, .noMessageStored))]"
            func put(_ name: String, _ headers: [String: String]) async throws -> HTTPCaller.Answer {
                try await stage.api(
                    "PUT", "/v1/events/derby", #"{"name": "\#(name)", "audiences": \#(audiences)}"#, headers: headers)
            }
            let first = try await put("first", ["If-Match": #""0", \#(tag)"#])
            #expect(first.status == 200)
            let second = try await put("second", ["If-Match": tag])
            #expect(second.status == 412)
            #expect(second.slug == "version-mismatch")
            #expect(try await put("new", ["If-None-Match": "*"]).status == 412)
            let none = try await stage.api(
                "PUT", "/v1/events/none", #"{"name": "x", "audiences": \#(audiences)}"#, headers: ["If-Match": "*"])
            #expect(none.status == 412)
            let present = try await stage.api("GET", "/v1/events/derby")
            #expect(present.json["name"]?.string == "first")
            #expect(present.headers["etag"] != tag)
            #expect(first.headers["etag"] == present.headers["etag"])
            // A broadcast makes the event live, but does not change its version.
            _ = try await stage.broadcast(#"{"event": "update", "contentState": {}}"#)
            #expect(try await stage.api("GET", "/v1/events/derby").headers["etag"] == present.headers["etag"])
            #expect(try await put("last", ["If-Match": try #require(present.headers["etag"])]).status == 200)
        }
    }

    @Test func `the ETag in the answer to a change is accepted for the next change`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let audiences = "[\(Stage.audience(.development, .noMessageStored))]"
            let hook = try await stage.api(
                "POST", "/v1/webhooks", #"{"url": "https://hooks.example/a", "topics": ["quota.level"]}"#)
            let webhook = "/v1/webhooks/\(try #require(hook.json["id"]?.string))"
            let cases = [
                ("PUT", "/v1/events/derby", #"{"name": "x", "audiences": \#(audiences)}"#),
                ("PATCH", "/v1/events/derby", #"{"kind": "match"}"#),
                (
                    "PUT", "/v1/apps/\(Stage.bundleID)",
                    #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1"}"#
                ),
                ("PUT", webhook, #"{"url": "https://hooks.example/b", "topics": ["quota.level"]}"#),
            ]
            for (method, path, body) in cases {
                let made = try await stage.api(method, path, body)
                #expect((200...201).contains(made.status), "\(path): \(made.text)")
                let tag = try #require(made.headers["etag"], "\(path)")
                #expect(try await stage.api("GET", path).headers["etag"] == tag, "\(path)")
                let again = try await stage.api(method, path, body, headers: ["If-Match": tag])
                #expect(again.status == 200, "\(path): \(again.text)")
            }
        }
    }

    @Test func `the command line changes what it is told, and nothing else`() async throws {
        try await Stage.with { stage in
            let app = "/v1/apps/com.example.Verb"
            let made = try await grandstand(
                stage, "app", "put", "com.example.Verb", "--name", "Verb", "--team", "TEAM123456", "--key",
                "KEY1234567",
                "--limit", "77", "--override", "production::KEY7654321")
            #expect(made.exitCode == 0, "\(made.text)")
            #expect(try await grandstand(stage, "app", "put", "com.example.Verb", "--name", "Renamed").exitCode == 0)
            var json = try await stage.api("GET", app).json
            #expect(json["name"]?.string == "Renamed")
            #expect(json["channelLimit"]?.int == 77)
            #expect(json["environments"]?["production"]?["keyId"]?.string == "KEY7654321")
            _ = try await grandstand(stage, "app", "put", "com.example.Verb", "--override", "development:TEAM000000:")
            json = try await stage.api("GET", app).json
            #expect(json["environments"]?["production"]?["keyId"]?.string == "KEY7654321")
            #expect(json["environments"]?["development"]?["teamId"]?.string == "TEAM000000")

            let event = try await grandstand(
                stage, "event", "put", "verb", "--name", "Verb", "--kind", "match", "--starts-at",
                "2099-01-01T00:00:00Z",
                "--metadata", #"{"venue": "Lusail"}"#, "--audience", "com.example.Verb:production:noMessageStored",
                "--audience", "com.example.Verb:development:noMessageStored")
            #expect(event.exitCode == 0, "\(event.text)")
            let changed = try await grandstand(
                stage, "event", "put", "verb", "--ends-at", "2099-01-01T02:00:00Z", "--fields", #"{"kind": null}"#)
            #expect(changed.exitCode == 0, "\(changed.text)")
            json = try await stage.api("GET", "/v1/events/verb").json
            #expect(json["name"]?.string == "Verb")
            #expect(json["kind"]?.string == nil)
            #expect(json["startsAt"]?.string == "2099-01-01T00:00:00.000Z")
            #expect(json["endsAt"]?.string == "2099-01-01T02:00:00.000Z")
            #expect(json["metadata"]?["venue"]?.string == "Lusail")
            #expect(json["audiences"]?.items.count == 2)
            let odd = try await grandstand(stage, "event", "put", "verb", "--fields", "[]")
            #expect(odd.text == "Error: --fields: a JSON object was expected\n")
        }
    }

    @Test func `simultaneous commands for one event do not undo each other's changes`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let changes = [["--name", "New"], ["--kind", "cup"], ["--metadata", #"{"a": 1}"#]]
            try await withThrowingTaskGroup { group in
                for change in changes {
                    group.addTask {
                        let output = try await Program.run(
                            Bundle.main.bundleURL.appending(path: "grandstand"), ["event", "put", "derby"] + change,
                            environment: ["GRANDSTAND_URL": stage.url, "GRANDSTAND_API_KEY": stage.api.secret ?? ""])
                        #expect(output.exitCode == 0, "\(output.text)")
                    }
                }
                try await group.waitForAll()
            }
            let json = try await stage.api("GET", "/v1/events/derby").json
            #expect(json["name"]?.string == "New")
            #expect(json["kind"]?.string == "cup")
            #expect(json["metadata"]?["a"]?.int == 1)
        }
    }

    @Test func `the command webhook change keeps other settings, and the command broadcast send sets every option`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let draft = #"{"url": "https://hooks.example.com/x", "topics": ["quota.level"], "description": "ours"}"#
            let id = try #require(try await stage.api("POST", "/v1/webhooks", draft).json["id"]?.string)
            let tag = try #require(try await stage.api("GET", "/v1/webhooks/\(id)").headers["etag"])
            #expect(try await grandstand(stage, "webhook", "change", id, "--disable-messages").exitCode == 0)
            let webhook = try await stage.api("GET", "/v1/webhooks/\(id)")
            #expect(webhook.json["description"]?.string == "ours")
            #expect(webhook.json["enabled"]?.bool == false)
            #expect(try await stage.api("PUT", "/v1/webhooks/\(id)", draft, headers: ["If-Match": tag]).status == 412)
            #expect(
                try await grandstand(stage, "webhook", "change", UUID().uuidString, "--disable-messages").exitCode == 1)

            let sent = try await grandstand(
                stage, "broadcast", "send", "derby", "--content-state", #"{"n": 1}"#, "--priority", "10",
                "--stale-date", "2099-01-01T00:00:00Z", "--relevance-score", "99.5", "--apns-expiration", "0",
                "--audience", "\(Stage.bundleID):development")
            #expect(sent.exitCode == 0, "\(sent.text)")
            let request = try #require(try await stage.sent(1).first)
            #expect(request.text.contains(#""relevance-score":99.5"#))
            #expect(request.text.contains(#""stale-date":4070908800"#))
        }
    }
}
