internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import HTTP2
internal import Testing

@Suite(.timeLimit(.minutes(1)))
struct ControlTests {
    @Test func `the API lists its paths, and an unknown path is refused`() async throws {
        try await ControlStage.with { stage in
            let root = try await stage.call("GET", "/")
            #expect(root.status == 200)
            #expect((root.json["routes"] as? [String])?.contains { $0.hasPrefix("GET /journal") } == true)
            for path in ["/nothing", "/apps/a/development/nothing", "/faults/a/b", "/devices/a/b/c/d"] {
                let answer = try await stage.call("GET", path)
                #expect([404, 405].contains(answer.status), "\(path)")
                #expect(answer.json["error"] is String)
            }
            #expect(try await stage.call("POST", "/journal").status == 405)
            #expect(try await stage.call("POST", "/faults", "{").status == 400)
            #expect(try await stage.call("GET", "/apps/a/staging/channels").status == 400)
            #expect(try await stage.call("GET", "/journal?colour=red").status == 400)
            #expect(try await stage.call("GET", "/%ff").status == 400)
            let many = try await stage.call("POST", "/faults", "[" + String(repeating: "0,", count: 300_000) + "0]")
            #expect(many.status == 400)
            #expect((many.json["error"] as? String)?.contains("more than 250000 values") == true)
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

            async let waited = stage.entries("/journal?operation=list&count=1&timeout=30")
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

    @Test func `faults can be added and removed`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let made = try await stage.call("POST", "/faults", #"{"action": "refuse", "reason": "Shutdown"}"#)
            #expect(made.status == 201)
            #expect(made.json["name"] as? String == "fault-1")
            #expect(try await client.list().status == 503)
            #expect(try await stage.call("DELETE", "/faults/fault-1").status == 204)
            #expect(try await stage.call("DELETE", "/faults/fault-1").status == 404)
            #expect(try await client.list().status == 200)
            let script = #"{"seed": 1, "faults": [{"name": "a", "action": "cut"}, {"name": "b", "action": "vanish"}]}"#
            #expect(try await stage.call("POST", "/faults", script).status == 201)
            #expect(try await stage.call("POST", "/faults", script).status == 400)
            #expect((try await stage.call("GET", "/faults").json["faults"] as? [Any])?.count == 2)
            #expect(try await stage.call("DELETE", "/faults").status == 204)
            #expect(try await client.list().status == 200)
        }
    }

    @Test func `buckets can be added, counted, changed and removed`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let id = try #require(try await client.create(policy: 0)[header: "apns-channel-id"])
            let made = try await stage.call(
                "POST", "/buckets", #"{"name": "b", "by": "channel", "rate": 0, "burst": 2, "retryAfter": true}"#)
            #expect(made.status == 201)
            #expect(made.json["operation"] as? String == "broadcast")
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await client.broadcast(on: id).status) }
            #expect(statuses == [200, 200, 429])

            let bucket = try await stage.call("GET", "/buckets/b").json
            #expect(bucket["since"] is Double)
            #expect(bucket["counts"] as? [String: Double] == ["taken": 2, "refused": 1, "allowed": 2])
            let keys = try #require(bucket["keys"] as? [[String: Any]])
            #expect(keys.count == 1)
            #expect(keys.first?["channelId"] as? String == id)
            #expect(keys.first?["bundleId"] as? String == Bench.bundleID)
            let none = try await stage.call("GET", "/buckets/b?keys=0").json
            #expect((none["keys"] as? [Any])?.isEmpty == true)
            #expect(none["keysSeen"] as? Int == 1)

            let changed = try await stage.call("PATCH", "/buckets/b", #"{"rate": 1000000, "retryAfter": false}"#)
            #expect(changed.json["rate"] as? Double == 1_000_000)
            #expect(try await client.broadcast(on: id).status == 200)
            #expect(try await stage.call("PATCH", "/buckets/b", #"{"by": "app"}"#).status == 400)
            #expect(try await stage.call("PATCH", "/buckets/c", #"{"rate": 1}"#).status == 404)
            #expect(try await stage.call("POST", "/buckets", #"{"name": "b", "by": "app", "rate": 1}"#).status == 400)
            let all = try await stage.call("GET", "/buckets").json
            #expect((all["buckets"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == ["b"])
            #expect(try await stage.call("DELETE", "/buckets/b").status == 204)
            #expect(try await stage.call("DELETE", "/buckets/b").status == 404)
            #expect(try await stage.call("DELETE", "/buckets").status == 204)
            #expect(try await stage.call("PUT", "/buckets").status == 405)
            #expect(try await stage.call("GET", "/buckets/b/c").status == 404)
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
            #expect(try await client.list().text == #"{"reason":"BroadcastFeatureNotEnabled"}"#)
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
            #expect(made.status == 201)
            #expect((made.json["pushToStartTokens"] as? [String: String])?["com.example.scores"]?.count == 160)
            #expect(try await stage.call("POST", "/devices", phone).status == 400)
            let start = #"{"bundleId": "com.example.scores", "channelId": "\#(id)", "contentState": {"home": 0}}"#
            #expect(try await stage.call("POST", "/devices/anna/activities", start).status == 201)

            let version = try #require(try await stage.call("GET", "/lock-screens").json["version"] as? Int)
            async let changed = stage.call("GET", "/lock-screens?after=\(version)&timeout=30")
            let body = #"{"aps":{"timestamp":1780000000,"event":"update","content-state":{"home":1}}}"#
            #expect(try await client.broadcast(on: id, body).status == 200)
            #expect(try await changed.status == 200)
            #expect(try await stage.shown("anna") == [["home": 1]])

            #expect(try await stage.call("PATCH", "/devices/anna", #"{"online": false}"#).status == 200)
            let later = Int(Date().timeIntervalSince1970) + 600
            let goal = body.replacing("1780000000", with: "1780000001").replacing(#""home":1"#, with: #""home":2"#)
            #expect(try await client.broadcast(on: id, expiration: later, goal).status == 200)
            #expect(try await stage.shown("anna") == [["home": 1]])
            #expect(try await stage.call("PATCH", "/devices/anna", #"{"online": true}"#).status == 200)
            #expect(try await stage.shown("anna") == [["home": 2]])

            #expect(try await stage.call("PATCH", "/clock", #"{"advance": 43200}"#).status == 200)
            #expect(try await stage.shown("anna") == [])
            #expect(try await stage.call("GET", "/lock-screens?after=1000000&timeout=0").status == 408)
            #expect(try await stage.call("POST", "/devices/anna/activities/1/token").status == 404)
            #expect(try await stage.call("DELETE", "/devices/anna/activities/1").status == 204)
            #expect(try await stage.call("DELETE", "/devices/anna/activities/9").status == 404)
            #expect(try await stage.call("DELETE", "/devices/anna").status == 204)
            #expect(try await stage.call("GET", "/devices/anna").status == 404)
        }
    }

    @Test func `tokens can be made invalid, quirks set, and the clock read and moved`() async throws {
        try await ControlStage.with { stage in
            let phone = #"{"id": "anna", "environment": "production", "bundleIds": ["com.example.scores"]}"#
            let tokens = try await stage.call("POST", "/devices", phone).json["pushToStartTokens"] as? [String: String]
            let token = try #require(tokens?["com.example.scores"])
            #expect(try await stage.call("DELETE", "/tokens/\(token)?reason=BadPath").status == 400)
            #expect(try await stage.call("DELETE", "/tokens/\(token)").status == 204)
            #expect(try await stage.call("DELETE", "/tokens/abcd").status == 404)
            #expect(try await stage.call("GET", "/devices/anna").json["goneTokens"] as? [String] == [token])

            #expect(try await stage.call("PATCH", "/quirks", #"{"capitals": "accepted"}"#).status == 200)
            let client = try await stage.client()
            #expect(try await client.list("com.example.Scores").status == 200)
            #expect(try await stage.call("PATCH", "/quirks", #"{"capitals": "maybe"}"#).status == 400)
            #expect(try await stage.call("PATCH", "/quirks", #"{"weather": "fine"}"#).status == 400)
            #expect(try await stage.call("DELETE", "/quirks").status == 200)
            #expect(try await client.list("com.example.Scores").status == 403)
            #expect(try await stage.call("GET", "/clock").json["ahead"] as? Double == 0)
            #expect(try await stage.call("PATCH", "/clock", #"{"advance": -1}"#).status == 400)
        }
    }

    @Test func `a body that is too large is refused, and the next request is answered`() async throws {
        try await ControlStage.with { stage in
            let large = try await stage.call("POST", "/faults", String(repeating: " ", count: 5 << 20))
            #expect(large.status == 413)
            #expect(try await stage.call("GET", "/").status == 200)
        }
    }
}
