internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Whatever happens between the server and Apple: a broadcast that Apple would accept is accepted.
@Suite(.timeLimit(.minutes(20)))
struct TransportFaultTests {
    private static let matches = (0..<8).map { "match-\($0)" }
    private static let message = #"{"event": "update", "contentState": {"n": 1}}"#

    /// What happens to some of eight broadcasts that go out side by side: a fault's members beside `name` and `match`.
    private static let troubles: [(name: String, fault: String)] = [
        ("reset streams", #""action": "reset", "times": 3"#), ("cut connections", #""action": "cut", "times": 3"#),
        ("silence", #""action": "silence", "times": 3"#), ("lost answers", #""action": "lose", "times": 3"#),
        ("500", #""action": "refuse", "reason": "InternalServerError", "times": 5"#),
        ("503", #""action": "refuse", "reason": "ServiceUnavailable", "times": 5"#),
        (
            "503 with a space in the reason",
            #""action": "refuse", "reason": "Service Unavailable", "status": 503, "times": 5"#
        ),
        ("Shutdown", #""action": "refuse", "reason": "Shutdown", "times": 5"#),
        ("one stream", #""action": "settings", "maximumStreams": 1, "times": 1"#),
        ("429", #""action": "refuse", "reason": "TooManyRequests", "times": 5"#),
        ("429 with Retry-After", #""action": "refuse", "reason": "TooManyRequests", "retryAfter": 1, "times": 3"#),
    ]

    /// Troubles in which Apple tells which requests it did not process. So each one is processed exactly once.
    private static let safeTroubles: [(name: String, fault: String)] = [
        ("GOAWAY, clean", #""action": "goAway", "manner": "clean", "times": 3"#),
        ("GOAWAY below streams in flight", #""action": "goAway", "manner": "mid", "times": 3"#),
        ("GOAWAY everywhere", #""action": "goAway", "manner": "rolling", "times": 3"#),
        ("refused streams", #""action": "refuseStream", "times": 5"#),
    ]

    @Test(arguments: [true, false])
    func `under every transport fault each broadcast is accepted, with one token`(isSafe: Bool) async throws {
        // If Apple says which requests it did not process, no request may time out, however busy the machine is.
        try await Stage.with(settings: ["GRANDSTAND_APNS_REQUEST_TIMEOUT": isSafe ? "30" : "1"]) { stage in
            try await stage.putApp()
            for match in Self.matches { try await stage.putEvent(match) }
            for match in Self.matches { try await stage.activeChannels(of: match) }
            for (name, fault) in isSafe ? Self.safeTroubles : Self.troubles {
                let before = stage.journal.count
                try stage.simulator.addFaults(
                    #"{"faults": [{"name": "\#(name)", "match": {"operation": "broadcast"}, \#(fault)}]}"#)
                let settled = try await withThrowingTaskGroup { group in
                    for match in Self.matches {
                        group.addTask { try await stage.settled(try await stage.broadcast(Self.message, to: match)) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(settled.map(\.deliveryStates) == Self.matches.map { _ in ["accepted"] }, "\(name)")
                let entries = stage.journal.dropFirst(before)
                #expect(entries.contains { $0.fault == name }, "\(name)")
                if isSafe {
                    let processed = entries.filter { $0.request.isBroadcast && $0.status == 200 }
                    let requests = Set(processed.map { $0.request[header: "apns-request-id"] })
                    #expect(processed.count == Self.matches.count && requests.count == processed.count, "\(name)")
                }
            }
            #expect(Set(stage.journal.compactMap { $0.request[header: "authorization"] }).count == 1)
        }
    }

    @Test func `an event declared while APNs cannot be reached gets its channel when it is back`() async throws {
        let folder = try TemporaryFolder()
        let addresses = try await SimulatorPlace.free(in: folder.path + "/apns")
        var options = SimulatorOptions(directory: folder.path + "/apns")
        options.port = addresses.port
        let simulator = Simulator(options: options, logger: Stage.logger)
        try await withDatabase(.own) { database in
            let environment = addresses.settings.merging(["DATABASE_URL": database.connectionString]) { $1 }
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putApp()
                let put = try await stage.putEvent("derby")
                #expect(put.status == 201)
                // An attempt has failed. The event says why, and when the next attempt is.
                let channel = try await until("the first creation has failed") {
                    let channel = try await stage.api("GET", "/v1/events/derby").json["audiences"]?[0]?["channel"]
                    return channel?["reason"] == nil ? nil : channel
                }
                #expect(channel["state"]?.string == "pending")
                #expect(channel["nextAttemptAt"]?.string != nil)
                #expect(
                    try await stage.api("GET", "/v1/lookup/\(Stage.bundleID)/development/derby").slug
                        == "channel-pending")

                try await simulator.start()
                let channelID = try await stage.activeChannels(of: "derby")
                #expect(simulator.channels(of: Stage.bundleID, in: .development).map(\.id) == channelID)
            }
        }
        await simulator.stop()
    }
}
