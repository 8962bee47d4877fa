internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

struct SimulatorStateTests {
    @Test func `a channel is listed and read after its creation, and gone after its deletion, in its environment only`()
        throws
    {
        var bench = try Bench()
        try bench.addChannels()
        let app = "/1/apps/\(Bench.bundleID)"

        #expect(
            text(try bench.send("GET", "\(app)/all-channels")) == #"{"channels":["\#(bench.none)","\#(bench.stored)"]}"#
        )
        #expect(text(try bench.send("GET", "\(app)/all-channels", in: .production)) == #"{"channels":[]}"#)
        #expect(
            text(try bench.send("GET", "\(app)/channels", ["apns-channel-id": bench.stored]))
                == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        #expect(
            text(try bench.send("GET", "\(app)/channels", ["apns-channel-id": bench.none]))
                == #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)
        #expect(try bench.broadcast(on: bench.none, in: .production).reason == .badChannelId)
        #expect(try bench.send("DELETE", "\(app)/channels", ["apns-channel-id": bench.none]).status == 204)
        #expect(text(try bench.send("GET", "\(app)/all-channels")) == #"{"channels":["\#(bench.stored)"]}"#)
    }

    @Test func `the channel limit is per app and environment, and a deletion makes room`() throws {
        var bench = try Bench(channelLimit: 2)
        let first = try bench.create(policy: 0)
        _ = try bench.create(policy: 1)
        let body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        let path = "/1/apps/\(Bench.bundleID)/channels"

        let refused = try bench.send("POST", path, [:], body)
        #expect(refused.status == 400)
        #expect(refused.reason == .cannotCreateChannelConfig)
        #expect(try bench.send("POST", path, [:], "{}").reason == .missingChannelQueueSize)
        #expect(try bench.send("POST", path, [:], body, in: .production).status == 201)
        #expect(try bench.send("POST", "/1/apps/com.example.other/channels", [:], body).status == 201)

        #expect(try bench.send("DELETE", path, ["apns-channel-id": first]).status == 204)
        #expect(try bench.send("POST", path, [:], body).status == 201)
    }

    @Test func `the default limit is ten thousand channels, each with its own ID`() throws {
        var bench = try Bench()
        var ids: Set<String> = []
        for _ in 0..<10_000 { ids.insert(try bench.create(policy: 0)) }
        #expect(ids.count == 10_000)
        #expect(!ids.contains(""))
        let body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        let next = try bench.send("POST", "/1/apps/\(Bench.bundleID)/channels", [:], body)
        #expect(next.reason == .cannotCreateChannelConfig)
    }

    @Test func `a management call in lowercase and a broadcast in the registered case mean one app`() throws {
        var bench = try Bench()
        let id = try bench.create(policy: 0, of: "com.example.matchday")
        #expect(try bench.create(policy: 0, of: "com.example.MatchDay") == "")
        #expect(try bench.broadcast(on: id, of: "com.example.MatchDay").status == 200)
        #expect(bench.state.channels(of: "com.example.MatchDay", in: .development).map(\.broadcasts) == [1])

        var lenient = try Bench(capitals: .accepted)
        #expect(try lenient.create(policy: 0, of: "com.example.MatchDay") != "")
    }

    @Test func `an app belongs to the team that created its first channel in an environment`() throws {
        let other = Provider(keyID: "OTHERKEY01", teamID: "OTHERTEAM1")
        var bench = try Bench()
        bench.state = SimulatorState(keys: [try bench.provider.registered(), try other.registered()])
        _ = try bench.create(policy: 0)
        let path = "/1/apps/\(Bench.bundleID)/all-channels"
        #expect(try bench.send("GET", path, by: other).reason == .topicMismatch)
        #expect(try bench.send("GET", path, in: .production, by: other).status == 200)
        #expect(try bench.send("GET", "/1/apps/com.example.other/all-channels", by: other).status == 200)
    }

    @Test func `turning off the Broadcast capability deletes an app's channels, and turning it on restores none`()
        throws
    {
        var bench = try Bench()
        try bench.addChannels()
        bench.state.setBroadcastCapability(false, of: "com.example.Scores")
        #expect(try bench.broadcast(on: bench.none).reason == .broadcastFeatureNotEnabled)
        #expect(try bench.send("GET", "/1/apps/\(Bench.bundleID)/all-channels").reason == .broadcastFeatureNotEnabled)
        bench.state.setBroadcastCapability(true, of: Bench.bundleID)
        #expect(try bench.broadcast(on: bench.none).reason == .channelNotRegistered)
        #expect(bench.state.channels(of: Bench.bundleID, in: .development).isEmpty)
    }

    @Test func `every answer has the request's ID, or a new one if the request has none or an invalid one`() throws {
        var bench = try Bench()
        let path = "/1/apps/\(Bench.bundleID)/all-channels"
        let id = "0f8b1a2c-3d4e-5f60-7182-93a4b5c6d7e8"
        #expect(try bench.send("GET", path, ["apns-request-id": id])[header: "apns-request-id"] == id)
        #expect(try bench.send("GET", "/", ["apns-request-id": id])[header: "apns-request-id"] == id)
        let malformed = try bench.send("GET", path, ["apns-request-id": "42"])[header: "apns-request-id"]
        let made = try bench.send("GET", path)[header: "apns-request-id"]
        #expect(malformed != "42")
        #expect(malformed?.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(made != malformed)
    }

    @Test(arguments: APNsEnvironment.allCases)
    func `the answer to an accepted broadcast has a unique ID, in both environments`(environment: APNsEnvironment)
        throws
    {
        var bench = try Bench()
        let id = try bench.create(policy: 0, in: environment)
        let first = try bench.broadcast(on: id, in: environment)
        let second = try bench.broadcast(on: id, in: environment)
        #expect(first.body.isEmpty)
        #expect(first[header: "apns-unique-id"]?.count == 36)
        #expect(first[header: "apns-unique-id"] != second[header: "apns-unique-id"])
    }

    @Test func `only a valid token allows many streams on a connection`() throws {
        var bench = try Bench()
        #expect(try bench.send("GET", "/1/apps/\(Bench.bundleID)/all-channels").tokenAccepted)
        #expect(try bench.broadcast(on: "nonsense").tokenAccepted)
        #expect(try !bench.send("GET", "/1/apps/x/all-channels", ["authorization": "bearer x"]).tokenAccepted)
        #expect(try !bench.send("GET", "/").tokenAccepted)
    }

    private func text(_ answer: SimulatorAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }
}
