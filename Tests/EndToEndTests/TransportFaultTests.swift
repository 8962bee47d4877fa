internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// APNs cannot be reached. `FailureTableTests` have the other faults between the server and Apple.
@Suite(.timeLimit(.minutes(20)))
struct TransportFaultTests {
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
