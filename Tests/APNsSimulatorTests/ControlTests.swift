internal import Foundation
internal import HTTP2
internal import JSON
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct ControlTests {
    @Test func `wrong calls name the mistake and change nothing`() async throws {
        let calls: [(String, String, String, Int)] = [
            ("GET", "/nothing", "", 404), ("GET", "/apps/a/development/nothing", "", 404),
            ("GET", "/faults/a/b", "", 404),
            ("GET", "/buckets/b/c", "", 404), ("DELETE", "/faults/a", "", 404),
            ("PATCH", "/buckets/c", #"{"rate": 1}"#, 404),
            ("DELETE", "/devices/a/activities/9", "", 404), ("DELETE", "/tokens/abcd", "", 404),
            ("POST", "/journal", "", 405), ("PUT", "/buckets", "", 405),
            ("GET", "/apps/a/staging/channels", "", 400), ("GET", "/journal?colour=red", "", 400),
            ("GET", "/journal?limit=many", "", 400), ("GET", "/%ff", "", 400), ("POST", "/faults", "{", 400),
            ("POST", "/buckets", #"{"by": "planet", "rate": 1}"#, 400), ("POST", "/devices", "[]", 400),
            ("POST", "/devices", #"{"id": 7}"#, 400), ("POST", "/devices/nobody/activities", "{}", 400),
            ("PATCH", "/quirks", #"{"capitals": "sometimes"}"#, 400),
            ("PATCH", "/clock", #"{"advance": "an hour"}"#, 400), ("PATCH", "/clock", #"{"advance": -1}"#, 400),
            ("DELETE", "/tokens/abcd?reason=BadPath", "", 400),
        ]
        try await ControlStage.with { stage in
            for (method, path, body, status) in calls {
                let answer = try await stage.call(method, path, body, gives: status)
                #expect(answer["error"]?.string?.isEmpty == false, "\(method) \(path)")
            }
            try await stage.call("POST", "/faults", String(repeating: " ", count: 5 << 20), gives: 413)
            let values = "[" + String(repeating: "0,", count: 300_000) + "0]"
            let many = try await stage.call("POST", "/faults", values, gives: 400)
            #expect(many["error"]?.string?.contains("more than 250000 values") == true)
            #expect(try await stage.list("/faults", "faults").isEmpty)
            #expect(try await !stage.list("/", "routes").isEmpty)
            #expect(try await stage.client().list().status == 200)
        }
    }

    @Test func `the journal can be queried, awaited and cleared`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            _ = try await client.create(policy: 0)
            _ = try await client.broadcast(on: "AAAA")
            let query = "/journal?operation=broadcast&status=400&reason=BadChannelId"
            let entries = try await stage.list(query, "entries")
            #expect(entries.map { $0["body"]?.string } == [Bench.update])
            #expect(entries.map { $0["fate"]?.string } == ["answered"])
            #expect(try await stage.entries("?channelId=AAAA&bundleId=com.EXAMPLE.scores") == [2])
            #expect(try await stage.entries("?after=1") == [2])
            #expect(try await stage.entries("?limit=1") == [2])
            #expect(try await stage.entries("?method=GET") == [])

            async let waited = stage.entries("?operation=list&count=1&timeout=60")
            _ = try await client.list()
            #expect(try await waited == [3])
            try await stage.call("GET", "/journal?operation=delete&count=1&timeout=0", gives: 408)

            try await stage.call("DELETE", "/journal", gives: 204)
            #expect(try await stage.entries("") == [])
            let counters = try await stage.call("GET", "/counters")
            #expect(counters["requests"]?.integer == 3)
            #expect(counters["byVerdict"]?.elements?.count == 3)
            #expect(counters["connections"]?["opened"]?.integer == 1)
        }
    }

    @Test func `faults can be added and removed, and quirks set and reset`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let refusal = #"{"action": "refuse", "reason": "Shutdown"}"#
            let made = try await stage.call("POST", "/faults", refusal, gives: 201)
            #expect(made["name"]?.string == "fault-1")
            #expect(try await client.list().status == 503)
            try await stage.call("DELETE", "/faults/fault-1", gives: 204)
            #expect(try await client.list().status == 200)
            let script = #"{"seed": 1, "faults": [{"action": "cut"}, {"action": "vanish"}]}"#
            try await stage.call("POST", "/faults", script, gives: 201)
            #expect(try await stage.list("/faults", "faults").count == 2)
            try await stage.call("DELETE", "/faults", gives: 204)

            try await stage.call("PATCH", "/quirks", #"{"capitals": "accepted"}"#)
            #expect(try await client.list("com.example.Scores").status == 200)
            let push = [
                "apns-topic": "com.example.scores.push-type.liveactivity", "apns-push-type": "liveactivity",
            ]
            for status in [400, 200] {
                let answer = try await client.send("POST", "/3/device/abcd", push, Bench.update)
                #expect(answer.status == status)
                try await stage.call("PATCH", "/quirks", #"{"unknown-device": "accepted"}"#)
            }
            try await stage.call("DELETE", "/quirks")
            #expect(try await client.list("com.example.Scores").status == 403)
        }
    }

    @Test func `buckets can be added, counted, changed and removed`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let id = try #require(try await client.create(policy: 0)[header: "apns-channel-id"])
            let bucket = #"{"name": "b", "by": "channel", "rate": 0, "burst": 1, "retryAfter": true}"#
            let made = try await stage.call("POST", "/buckets", bucket, gives: 201)
            #expect(made["operation"]?.string == "broadcast")
            try await stage.call("POST", "/buckets", bucket, gives: 400)
            for status in [200, 429] { #expect(try await client.broadcast(on: id).status == status) }
            let read = try await stage.call("GET", "/buckets/b")
            let counts = ["taken", "refused", "allowed"].map { read["counts"]?[$0]?.integer }
            #expect(counts == [1, 1, 1])
            #expect(read["keys"]?.elements?.map { $0["channelId"]?.string } == [id])
            try await stage.call("PATCH", "/buckets/b", #"{"rate": 1}"#)
            try await stage.call("PATCH", "/clock", #"{"advance": 60}"#)
            #expect(try await client.broadcast(on: id).status == 200)
            try await stage.call("DELETE", "/buckets/b", gives: 204)
            #expect(try await stage.list("/buckets", "buckets").isEmpty)
        }
    }

    @Test func `apps and channels can be read and changed`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let (app, path) = ("/apps/com.example.scores", "/apps/com.example.Scores/development/channels")
            let two = #"{"storagePolicy": "mostRecentMessageStored", "count": 2}"#
            let made = try await stage.call("POST", path, two, gives: 201)
            let ids = try #require(made["channelIds"]?.elements).compactMap(\.string)
            #expect(ids.count == 2)
            let expiration = Int(Date().timeIntervalSince1970) + 600
            #expect(try await client.broadcast(on: ids[0], expiration: expiration).status == 200)
            let encoded = ids[0].addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            let channel = "\(path)/\(try #require(encoded))"
            let stored = try await stage.call("GET", channel)["storedMessage"]
            #expect(stored?["body"]?.string == Bench.update)
            try await stage.call("DELETE", channel, gives: 204)
            try await stage.call("GET", channel, gives: 404)
            #expect(try await stage.list(path, "channels").count == 1)

            let change = #"{"channelLimit": 1, "environment": "development"}"#
            try await stage.call("PATCH", app, change, gives: 204)
            let full = try await client.create(policy: 0)
            #expect(full.text == #"{"reason":"CannotCreateChannelConfig"}"#)
            try await stage.call("DELETE", path, gives: 204)
            #expect(try await client.create(policy: 0).status == 201)
            try await stage.call("PATCH", app, #"{"broadcastCapability": false}"#, gives: 204)
            let first = try #require(try await stage.list("/apps", "apps").first)
            #expect(first["broadcastCapability"]?.bytes == Array("false".utf8))
            #expect(first["team"]?.string == "SIMULATOR1")
        }
    }

    @Test func `a match is shown on the spectator's lock screen`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let id = try #require(try await client.create(policy: 1)[header: "apns-channel-id"])
            let phone =
                #"{"id": "anna", "environment": "development", "bundleIds": ["com.example.Scores"]}"#
            let made = try await stage.call("POST", "/devices", phone, gives: 201)
            let token = try #require(made["pushToStartTokens"]?["com.example.scores"]?.string)
            try await stage.call("POST", "/devices", phone, gives: 400)
            let start = #"{"bundleId": "com.example.scores", "channelId": "\#(id)", "contentState": {"n": 0}}"#
            try await stage.call("POST", "/devices/anna/activities", start, gives: 201)

            let version = try #require(try await stage.call("GET", "/lock-screens")["version"]?.integer)
            async let changed = stage.call("GET", "/lock-screens?after=\(version)&timeout=60")
            #expect(try await client.broadcast(on: id, Bench.update).status == 200)
            _ = try await changed
            #expect(try await stage.shown("anna") == [#"{"home":1,"away":0}"#])
            try await stage.call("GET", "/lock-screens?after=1000000&timeout=0", gives: 408)

            for isOnline in [false, true] {
                let answer = try await stage.call("PATCH", "/devices/anna", #"{"online": \#(isOnline)}"#)
                #expect(answer["online"]?.bytes == Array("\(isOnline)".utf8))
            }
            try await stage.call("DELETE", "/tokens/\(token)", gives: 204)
            let gone = try await stage.list("/devices/anna", "goneTokens")
            #expect(gone.map(\.string) == [token])
            #expect(try await stage.call("GET", "/clock")["ahead"]?.integer == 0)
            try await stage.call("PATCH", "/clock", #"{"advance": 43260}"#)
            #expect(try await stage.shown("anna") == [])
            try await stage.call("POST", "/devices/anna/activities/1/token", gives: 404)
            try await stage.call("DELETE", "/devices/anna/activities/1", gives: 204)
            try await stage.call("DELETE", "/devices/anna", gives: 204)
            try await stage.call("GET", "/devices/anna", gives: 404)
        }
    }
}
