internal import APNsSimulator
internal import GrandstandTestKit

/// The folder and the ports of a simulator that starts later.
struct SimulatorPlace: Sendable {
    let folder: String
    let port: Int

    var settings: [String: String] {
        [
            "GRANDSTAND_PORT": "0", "GRANDSTAND_LANE_INTERVAL": "0", "GRANDSTAND_APNS_KEY_DIR": folder,
            "GRANDSTAND_APNS_CA_FILE": folder + "/ca.pem",
            "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL": "https://127.0.0.1:\(port)",
            "GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL": "https://127.0.0.1:\(port)",
            "GRANDSTAND_APNS_PRODUCTION_SEND_URL": "https://127.0.0.1:\(port + 1)",
            "GRANDSTAND_APNS_PRODUCTION_MANAGE_URL": "https://127.0.0.1:\(port + 1)",
        ]
    }

    /// Two ports in a row on which nobody listens. They are below the ports that the system assigns by itself.
    static func free(in folder: String) async throws -> SimulatorPlace {
        for _ in 0..<100 {
            var options = SimulatorOptions(directory: folder)
            options.port = Int.random(in: 15_000...30_000)
            let simulator = Simulator(options: options, logger: Stage.logger)
            if (try? await simulator.start()) != nil {
                await simulator.stop()
                return SimulatorPlace(folder: folder, port: options.port)
            }
        }
        throw NeverHappened(what: "two free ports in a row")
    }
}
