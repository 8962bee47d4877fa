internal import APNsSimulator
internal import Foundation
internal import HTTP2
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
                let answer = try await stage.call(method, path, body)
                #expect(answer.status == status, "\(method) \(path) \(body.prefix(100)): \(answer.json)")
                #expect((answer.json["error"] as? String)?.isEmpty == false, "\(method) \(path)")
            }
            #expect(try await stage.call("POST", "/faults", String(repeating: " ", count: 5 << 20)).status == 413)
            let many = try await stage.call("POST", "/faults", "[" + String(repeating: "0,", count: 300_000) + "0]")
            #expect((many.json["error"] as? String)?.contains("more than 250000 values") == true)
            #expect((try await stage.call("GET", "/faults").json["faults"] as? [Any])?.isEmpty == true)
            #expect((try await stage.call("GET", "/").json["routes"] as? [String])?.isEmpty == false)
            #expect(try await stage.client().list().status == 200)
        }
    }

    @Test func `the journal can be queried, awaited and cleared`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            _ = try await client.create(policy: 0)
            _ = try await client.broadcast(on: "AAAA")
            let refused = try await stage.call("GET", "/journal?operation=broadcast&status=400&reason=BadChannelId")
            let entries = try #require(refused.json["entries"] as? [[String: Any]])
            #expect(entries.count == 1)
            #expect(entries[0]["body"] as? String == Bench.update)
            #expect(entries[0]["fate"] as? String == "answered")
            #expect(entries[0]["number"] as? Int == 2)
            #expect(try await stage.entries("/journal?channelId=AAAA&bundleId=com.EXAMPLE.scores") == [2])
            #expect(try await stage.entries("/journal?after=1") == [2])
            #expect(try await stage.entries("/journal?limit=1") == [2])
            #expect(try await stage.entries("/journal?method=GET") == [])

            async let waited = stage.entries("/journal?operation=list&count=1&timeout=60")
            _ = try await client.list()
            #expect(try await waited == [3])
            #expect(try await stage.call("GET", "/journal?operation=delete&count=1&timeout=0").status == 408)

            #expect(try await stage.call("DELETE", "/journal").status == 204)
            #expect(try await stage.entries("/journal") == [])
            let counters = try await stage.call("GET", "/counters").json
            #expect(counters["requests"] as? Int == 3)
            #expect((counters["byVerdict"] as? [[String: Any]])?.count == 3)
            #expect((counters["connections"] as? [String: Int])?["opened"] == 1)
        }
    }

    @Test func `faults can be added and removed, and quirks set and reset`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let made = try await stage.call("POST", "/faults", #"{"action": "refuse", "reason": "Shutdown"}"#)
            #expect(made.json["name"] as? String == "fault-1")
            #expect(try await client.list().status == 503)
            #expect(try await stage.call("DELETE", "/faults/fault-1").status == 204)
            #expect(try await client.list().status == 200)
            let script = #"{"seed": 1, "faults": [{"name": "a", "action": "cut"}, {"name": "b", "action": "vanish"}]}"#
            #expect(try await stage.call("POST", "/faults", script).status == 201)
            #expect((try await stage.call("GET", "/faults").json["faults"] as? [Any])?.count == 2)
            #expect(try await stage.call("DELETE", "/faults").status == 204)

            #expect(try await stage.call("PATCH", "/quirks", #"{"capitals": "accepted"}"#).status == 200)
            #expect(try await client.list("com.example.Scores").status == 200)
            let push = ["apns-topic": "com.example.scores.push-type.liveactivity", "apns-push-type": "liveactivity"]
            for status in [400, 200] {
                #expect(try await client.send("POST", "/3/device/abcd", push, Bench.update).status == status)
                #expect(try await stage.call("PATCH", "/quirks", #"{"unknown-device": "accepted"}"#).status == 200)
            }
            #expect(try await stage.call("DELETE", "/quirks").status == 200)
            #expect(try await client.list("com.example.Scores").status == 403)
        }
    }

    @Test func `buckets can be added, counted, changed and removed`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let id = try #require(try await client.create(policy: 0)[header: "apns-channel-id"])
            let bucket = #"{"name": "b", "by": "channel", "rate": 0, "burst": 1, "retryAfter": true}"#
            #expect(try await stage.call("POST", "/buckets", bucket).json["operation"] as? String == "broadcast")
            #expect(try await stage.call("POST", "/buckets", bucket).status == 400)
            for status in [200, 429] { #expect(try await client.broadcast(on: id).status == status) }
            let read = try await stage.call("GET", "/buckets/b").json
            #expect(read["counts"] as? [String: Double] == ["taken": 1, "refused": 1, "allowed": 1])
            #expect((read["keys"] as? [[String: Any]])?.map { $0["channelId"] as? String } == [id])
            #expect(try await stage.call("PATCH", "/buckets/b", #"{"rate": 1000000}"#).status == 200)
            #expect(try await client.broadcast(on: id).status == 200)
            #expect(try await stage.call("DELETE", "/buckets/b").status == 204)
            #expect((try await stage.call("GET", "/buckets").json["buckets"] as? [Any])?.isEmpty == true)
        }
    }

    @Test func `apps and channels can be read and changed`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let path = "/apps/com.example.Scores/development/channels"
            let made = try await stage.call("POST", path, #"{"storagePolicy": "mostRecentMessageStored", "count": 2}"#)
            let ids = try #require(made.json["channelIds"] as? [String])
            #expect(ids.count == 2)
            let expiration = Int(Date().timeIntervalSince1970) + 600
            #expect(try await client.broadcast(on: ids[0], expiration: expiration).status == 200)
            let encoded = try #require(ids[0].addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let channel = try await stage.call("GET", "\(path)/\(encoded)")
            #expect((channel.json["storedMessage"] as? [String: Any])?["body"] as? String == Bench.update)
            #expect(try await stage.call("DELETE", "\(path)/\(encoded)").status == 204)
            #expect(try await stage.call("GET", "\(path)/\(encoded)").status == 404)
            #expect((try await stage.call("GET", path).json["channels"] as? [Any])?.count == 1)

            let change = #"{"channelLimit": 1, "environment": "development"}"#
            #expect(try await stage.call("PATCH", "/apps/com.example.scores", change).status == 204)
            #expect(try await client.create(policy: 0).text == #"{"reason":"CannotCreateChannelConfig"}"#)
            #expect(try await stage.call("DELETE", path).status == 204)
            #expect(try await client.create(policy: 0).status == 201)
            let off = #"{"broadcastCapability": false}"#
            #expect(try await stage.call("PATCH", "/apps/com.example.scores", off).status == 204)
            let apps = try #require(try await stage.call("GET", "/apps").json["apps"] as? [[String: Any]])
            #expect(apps.first?["broadcastCapability"] as? Bool == false)
            #expect(apps.first?["team"] as? String == "SIMULATOR1")
        }
    }

    @Test func `a match is shown on the spectator's lock screen`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let id = try #require(try await client.create(policy: 1)[header: "apns-channel-id"])
            let phone = #"{"id": "anna", "environment": "development", "bundleIds": ["com.example.Scores"]}"#
            let made = try await stage.call("POST", "/devices", phone)
            let token = try #require((made.json["pushToStartTokens"] as? [String: String])?["com.example.scores"])
            #expect(try await stage.call("POST", "/devices", phone).status == 400)
            let start = #"{"bundleId": "com.example.scores", "channelId": "\#(id)", "contentState": {"home": 0}}"#
            #expect(try await stage.call("POST", "/devices/anna/activities", start).status == 201)

            let version = try #require(try await stage.call("GET", "/lock-screens").json["version"] as? Int)
            async let changed = stage.call("GET", "/lock-screens?after=\(version)&timeout=60")
            #expect(try await client.broadcast(on: id, Bench.update).status == 200)
            #expect(try await changed.status == 200)
            #expect(try await stage.shown("anna") == [["home": 1, "away": 0]])
            #expect(try await stage.call("GET", "/lock-screens?after=1000000&timeout=0").status == 408)

            #expect(
                try await stage.call("PATCH", "/devices/anna", #"{"online": false}"#).json["online"] as? Bool == false)
            #expect(
                try await stage.call("PATCH", "/devices/anna", #"{"online": true}"#).json["online"] as? Bool == true)
            #expect(try await stage.call("DELETE", "/tokens/\(token)").status == 204)
            #expect(try await stage.call("GET", "/devices/anna").json["goneTokens"] as? [String] == [token])
            #expect(try await stage.call("GET", "/clock").json["ahead"] as? Double == 0)
            #expect(try await stage.call("PATCH", "/clock", #"{"advance": 43200}"#).status == 200)
            #expect(try await stage.shown("anna") == [])
            #expect(try await stage.call("POST", "/devices/anna/activities/1/token").status == 404)
            #expect(try await stage.call("DELETE", "/devices/anna/activities/1").status == 204)
            #expect(try await stage.call("DELETE", "/devices/anna").status == 204)
            #expect(try await stage.call("GET", "/devices/anna").status == 404)
        }
    }
}
