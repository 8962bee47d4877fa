internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import HTTP2
internal import Testing

/// From end to end: what the lock screens of phones show while the organiser uses our API.
@Suite(.timeLimit(.minutes(5)))
struct SpectatorTests {
    @Test
    func `lock screens follow a whole match, by channel and push-to-start, online and offline, under both policies`()
        async throws
    {
        try await Stage.with(options: { $0.controlPort = 0 }) { stage in
            let channels = try await stage.putLiveEvent(
                "final",
                [Stage.audience(.development, .noMessageStored), Stage.audience(.production, .mostRecentMessageStored)])
            let stands = [
                Stand(stage, .development, channels[0], stores: false),
                Stand(stage, .production, channels[1], stores: true),
            ]
            for stand in stands {
                try stand.followByHand()
                try await stand.startByPush()
                #expect(stand.states == ["home 0", "home 0", "home 0"])
            }

            try await stage.play(
                #"{"event": "update", "contentState": {"home": 1}, "alert": {"title": "Goal", "body": "1–0"}}"#)
            for stand in stands {
                #expect(stand.states == ["home 1", "home 1", "home 1"])
                for phone in stand.phones {
                    let alert = stage.simulator.lockScreen(of: phone).first?.alert
                    #expect(alert.map { String(decoding: $0, as: UTF8.self) } == #"{"title": "Goal", "body": "1–0"}"#)
                }
                stage.simulator.setOnline(false, device: stand.commuter)
            }

            try await stage.play(#"{"event": "update", "contentState": {"home": 2}}"#)
            try await stage.play(#"{"event": "update", "contentState": {"home": 3}}"#)
            for stand in stands {
                #expect(stand.states == ["home 3", "home 3", "home 1"])
                stage.simulator.setOnline(true, device: stand.commuter)
                // What is not stored is lost: the next message must carry the whole state.
                #expect(stand.states == ["home 3", "home 3", stand.stores ? "home 3" : "home 1"])
            }

            // APNs delivers two messages in reverse order: the older one arrives last, and no phone shows it.
            try stage.simulator.addFaults(
                #"{"faults": [{"match": {"operation": "broadcast"}, "action": "reorder", "times": 2}]}"#)
            try await stage.play(#"{"event": "update", "contentState": {"home": 4}}"#)
            for stand in stands { #expect(stand.states.first == "home 3") }
            try await stage.play(#"{"event": "update", "contentState": {"home": 5}}"#)
            for stand in stands {
                #expect(stand.states == ["home 5", "home 5", "home 5"])
                for phone in stand.phones {
                    #expect(try await stand.log(of: phone).contains("dropped, its timestamp is older"))
                }
            }

            try await stage.play(#"{"event": "end", "contentState": {"home": 6}}"#)
            // An old script still sends to APNs directly, without our API.
            for stand in stands {
                try await stand.broadcast(#"{"home": 7}"#, timestamp: Int(Date().timeIntervalSince1970) + 60)
                #expect(stand.states == ["home 6", "home 6", "home 6"])
                for phone in stand.phones {
                    #expect(stage.simulator.lockScreen(of: phone).map(\.state) == [.ended])
                    #expect(try await stand.log(of: phone).contains("dropped, the activity has ended"))
                }
            }
            stage.simulator.advance(by: .seconds(4 * 3_600))
            for stand in stands {
                for phone in stand.phones { #expect(stage.simulator.lockScreen(of: phone).isEmpty) }
            }
        }
    }
}

extension Stage {
    /// Broadcasts to the event `final`; returns once both environments have accepted the broadcast.
    fileprivate func play(_ body: String) async throws {
        let done = try await settled(try await broadcast(body, to: "final"))
        #expect(done.deliveryStates == ["accepted", "accepted"])
    }
}

/// The spectators of one environment: one who opened the app, one whose activity a push started, and one who loses the
/// network.
private struct Stand {
    let stage: Stage
    let environment: APNsEnvironment
    let channel: String
    let stores: Bool

    init(_ stage: Stage, _ environment: APNsEnvironment, _ channel: String, stores: Bool) {
        self.stage = stage
        self.environment = environment
        self.channel = channel
        self.stores = stores
    }

    private var fan: String { "fan-\(environment.rawValue)" }
    private var pushed: String { "pushed-\(environment.rawValue)" }
    var commuter: String { "commuter-\(environment.rawValue)" }
    var phones: [String] { [fan, pushed, commuter] }

    /// What the phone of each spectator shows, in words.
    var states: [String] {
        phones.map { phone in
            let shown = stage.simulator.lockScreen(of: phone).map { activity in
                let state = try? JSONDecoder().decode(JSON.self, from: Data(activity.contentState))
                return "home \(state?["home"]?.int ?? -1)"
            }
            return shown.joined(separator: ", ")
        }
    }

    func followByHand() throws {
        for phone in [fan, commuter] {
            try stage.simulator.addDevice(phone, in: environment)
            try stage.simulator.startActivity(
                on: phone, of: Stage.bundleID, channelID: channel, contentState: Array(#"{"home": 0}"#.utf8))
        }
    }

    /// Starts an activity as an organiser's own server would: with a device push that names the channel.
    func startByPush() async throws {
        let tokens = try stage.simulator.addDevice(pushed, in: environment, bundleIDs: [Stage.bundleID])
        let token = try #require(tokens[Stage.bundleID.lowercased()])
        let now = Int(Date().timeIntervalSince1970)
        try await post(
            "/3/device/\(token)", ["apns-topic": "\(Stage.bundleID).push-type.liveactivity"],
            """
            {"aps": {"event": "start", "timestamp": \(now - 60), "attributes-type": "Match", "attributes": {},
             "content-state": {"home": 0}, "alert": {"title": "Kick-off"}, "input-push-channel": "\(channel)"}}
            """)
    }

    /// Sends a broadcast that our service does not know of.
    func broadcast(_ contentState: String, timestamp: Int) async throws {
        try await post(
            APNsPath.broadcasts(of: Stage.bundleID),
            ["apns-channel-id": channel, "apns-expiration": "0", "apns-priority": "10"],
            #"{"aps": {"event": "update", "timestamp": \#(timestamp), "content-state": \#(contentState)}}"#)
    }

    /// The control API's log of a phone, which says why something was not shown.
    func log(of phone: String) async throws -> String {
        let control = HTTPCaller(url: try #require(stage.simulator.addresses?.controlURL))
        let events = try await control("GET", "/devices/\(phone)").json["events"]?.items ?? []
        return events.compactMap { $0["text"]?.string }.joined(separator: "\n")
    }

    /// Sends a request to APNs with the provider token that our service used last.
    private func post(_ path: String, _ headers: [String: String], _ body: String) async throws {
        let addresses = try #require(stage.simulator.addresses)
        let token = try #require(stage.simulator.journal().compactMap { $0.request[header: "authorization"] }.last)
        var configuration = HTTP2ClientConfiguration(host: addresses.host, port: addresses.port(environment))
        configuration.trustRoots = .file(addresses.caFile)
        let connection = try await HTTP2ClientConnection.connect(configuration, logger: Stage.logger)
        let fields = headers.merging(["authorization": token, "apns-push-type": "liveactivity"]) { $1 }
        let answer = try await connection.send(
            HTTP2Request(
                method: "POST", path: path, authority: "localhost",
                headers: fields.map { HTTP2Header($0.key, $0.value) }, body: Array(body.utf8)),
            timeout: .seconds(30))
        await connection.close()
        try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
    }
}
