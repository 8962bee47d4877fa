internal import APNsClient
internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

/// Whatever happens between the server and Apple: a broadcast that Apple would accept is accepted within seconds, and
/// any other is rejected after one request.
@Suite(.timeLimit(.minutes(5)))
struct TransportFaultTests {
    private static let matches = (0..<8).map { "match-\($0)" }
    private static let message = #"{"event": "update", "contentState": {"n": 1}}"#

    /// What happens to some of eight broadcasts that go out side by side.
    struct Trouble: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A fault's members beside `match`.
        let fault: String
        /// Whether Apple tells which requests it did not process. If so, each one is processed exactly once.
        var isSafe = false
    }

    static let troubles = [
        Trouble(
            testDescription: "GOAWAY, clean", fault: #""action": "goAway", "manner": "clean", "times": 3"#, isSafe: true
        ),
        Trouble(
            testDescription: "GOAWAY below streams in flight",
            fault: #""action": "goAway", "manner": "mid", "times": 3"#, isSafe: true),
        Trouble(
            testDescription: "GOAWAY everywhere", fault: #""action": "goAway", "manner": "rolling", "times": 3"#,
            isSafe: true),
        Trouble(testDescription: "refused streams", fault: #""action": "refuseStream", "times": 5"#, isSafe: true),
        Trouble(testDescription: "reset streams", fault: #""action": "reset", "times": 3"#),
        Trouble(testDescription: "cut connections", fault: #""action": "cut", "times": 3"#),
        Trouble(testDescription: "silence", fault: #""action": "silence", "times": 3"#),
        Trouble(testDescription: "lost answers", fault: #""action": "lose", "times": 3"#),
        Trouble(testDescription: "429", fault: #""action": "refuse", "reason": "TooManyRequests", "times": 5"#),
        Trouble(
            testDescription: "429 with Retry-After",
            fault: #""action": "refuse", "reason": "TooManyRequests", "retryAfter": 1, "times": 3"#),
        Trouble(testDescription: "500", fault: #""action": "refuse", "reason": "InternalServerError", "times": 5"#),
        Trouble(testDescription: "503", fault: #""action": "refuse", "reason": "ServiceUnavailable", "times": 5"#),
        Trouble(
            testDescription: "503 with a space in the reason",
            fault: #""action": "refuse", "reason": "Service Unavailable", "status": 503, "times": 5"#),
        Trouble(testDescription: "Shutdown", fault: #""action": "refuse", "reason": "Shutdown", "times": 5"#),
        Trouble(testDescription: "one stream", fault: #""action": "settings", "maximumStreams": 1, "times": 1"#),
    ]

    @Test(arguments: troubles)
    func `under every transport fault each broadcast is accepted within seconds, with one token`(_ trouble: Trouble)
        async throws
    {
        // If Apple says which requests it did not process, no request may time out, however busy the machine is.
        try await Stage.with(settings: ["GRANDSTAND_APNS_REQUEST_TIMEOUT": trouble.isSafe ? "30" : "1"]) { stage in
            try await stage.putApp()
            for match in Self.matches { try await stage.putEvent(match) }
            for match in Self.matches { try await stage.activeChannels(of: match) }
            try stage.simulator.addFaults(
                #"{"faults": [{"name": "trouble", "match": {"operation": "broadcast"}, \#(trouble.fault)}]}"#)
            let clock = ContinuousClock()
            let start = clock.now
            let settled = try await withThrowingTaskGroup { group in
                for match in Self.matches {
                    group.addTask { try await stage.settled(try await stage.broadcast(Self.message, to: match)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // The bound is far more than the broadcasts take, because other tests run at the same time.
            #expect(clock.now - start < .seconds(30))
            #expect(settled.map(\.deliveryStates) == Self.matches.map { _ in ["accepted"] })

            let entries = stage.simulator.journal()
            #expect(entries.contains { $0.fault == "trouble" })
            #expect(Set(entries.compactMap { $0.request[header: "authorization"] }).count == 1)
            if trouble.isSafe {
                let processed = entries.filter { $0.request.isBroadcast && $0.status == 200 }
                #expect(processed.count == Self.matches.count)
                #expect(Set(processed.map { $0.request[header: "apns-request-id"] }).count == Self.matches.count)
            }
        }
    }

    @Test func `messages that were under way to a killed peer are sent again when it is back`() async throws {
        let folder = try TemporaryFolder()
        let place = try await SimulatorPlace.free(in: folder.path + "/apns")
        let first = try await SimulatorProcess.start(at: place)
        try await withDatabase { database in
            // No request times out, so only the end of the connection shows the fault.
            let environment = place.settings.merging([
                "DATABASE_URL": database.connectionString, "GRANDSTAND_APNS_REQUEST_TIMEOUT": "30",
            ]) { $1 }
            try await Stage.serve(
                environment, simulator: Simulator(options: .init(directory: place.folder), logger: Stage.logger)
            ) { stage in
                try await stage.putApp()
                for match in Self.matches { try await stage.putEvent(match) }
                var channels: [String] = []
                for match in Self.matches { channels += try await stage.activeChannels(of: match) }
                try await until("the simulator has kept them") {
                    let kept = first.state
                    return channels.allSatisfy(kept.contains)
                }
                _ = try await stage.settled(try await stage.broadcast(Self.message, to: Self.matches[0]))

                first.freeze()
                var ids: [String] = []
                for match in Self.matches { ids.append(try await stage.broadcast(Self.message, to: match)) }
                for id in ids {
                    try await until("\(id) is on its way") {
                        try await stage.api("GET", "/v1/broadcasts/\(id)").json.deliveryStates == ["sending"]
                    }
                }
                try await until("/readyz reports APNs as unreachable") {
                    let apns = try await stage.api("GET", "/readyz").json["apns"]
                    let states = ["development", "production"].map { apns?[$0]?["state"]?.string }
                    return states.contains("unreachable") ? () : nil
                }
                first.kill9()
                let second = try await SimulatorProcess.start(at: place)
                for id in ids {
                    let settled = try await stage.settled(id)
                    #expect(settled.deliveryStates == ["accepted"])
                    #expect(settled["deliveries"]?[0]?["attempts"]?.int ?? 0 >= 2)
                }
                second.kill9()
            }
        }
    }

    @Test(arguments: [
        APNsReason.broadcastFeatureNotEnabled, .payloadTooLarge, .topicDisallowed,
    ])
    func `a broadcast refused for a permanent reason is rejected after one request`(_ reason: APNsReason) async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            stage.simulator.answerNext(9, with: .refusal(reason)) { $0.isBroadcast }
            let rejected = try await stage.settled(try await stage.broadcast(Self.message))
            #expect(rejected.deliveryStates == ["rejected"])
            #expect(rejected["deliveries"]?[0]?["reason"]?.string == reason.rawValue)
            #expect(rejected["deliveries"]?[0]?["attempts"]?.int == 1)
            #expect(stage.simulator.journal().count { $0.request.isBroadcast } == 1)
        }
    }

    @Test func `a token that Apple calls expired is replaced once, and the broadcast is accepted`() async throws {
        try await Stage.place { environment, simulator in
            let addresses = try #require(simulator.addresses)
            try await withDatabase { database in
                let environment = environment.merging(["DATABASE_URL": database.connectionString]) { $1 }
                // A replica that ran 25 minutes ago has stored its token for the replicas that share the key.
                var endpoints = Endpoints(send: [:], manage: [:])
                endpoints.manage[.development] = Endpoint(url: addresses.url(.development))
                var settings = APNsClient.Settings(endpoints: endpoints)
                settings.trustRoots = .file(addresses.caFile)
                settings.tokenStore = PostgresProviderTokenStore(database.database)
                let directory = try #require(environment["GRANDSTAND_APNS_KEY_DIR"])
                let early = APNsClient(
                    settings: settings, keys: KeyRing(directory: directory), now: { Date() - 1_500 },
                    logger: Stage.logger)
                let address = APNsAddress(
                    bundleID: try #require(BundleID(rawValue: Stage.bundleID)), environment: .development,
                    credentials: Credentials(teamID: SimulatorIdentity.teamID, keyID: SimulatorIdentity.keyID))
                _ = await early.createChannel(.noMessageStored, at: address, requestID: UUID())
                await early.close()
                #expect(simulator.journal().count == 1)

                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await stage.putLiveEvent()
                    simulator.answerNext(with: .refusal(.expiredProviderToken)) { $0.isBroadcast }
                    let settled = try await stage.settled(try await stage.broadcast(Self.message))
                    #expect(settled.deliveryStates == ["accepted"])
                    #expect(settled["deliveries"]?[0]?["attempts"]?.int == 1)
                    let sent = simulator.journal().filter { $0.request.isBroadcast }
                    #expect(sent.map(\.status) == [403, 200])
                    #expect(Set(sent.compactMap { $0.request[header: "authorization"] }).count == 2)
                }
                // The two tokens are the token of the early replica and the token that replaced it. There was no third
                // token.
                #expect(Set(simulator.journal().compactMap { $0.request[header: "authorization"] }).count == 2)
            }
        }
    }
}
