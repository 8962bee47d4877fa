internal import APNsSimulator
internal import APNsWire
internal import Logging

extension Simulator {
    /// The team and the key of every simulator that is not told otherwise.
    static let team = "SIMULATOR1"
    static let key = "SIMULATOR1"

    /// Runs a simulator for as long as `body` takes.
    ///
    /// - Parameter folder: of its keys and its certificate authority.
    static func running<Value>(
        in folder: String, logger: Logger, isolation: isolated (any Actor)? = #isolation,
        _ body: (Simulator, SimulatorAddresses) async throws -> Value
    ) async throws -> Value {
        var options = SimulatorOptions(directory: folder)
        options.capitals = .refused
        let simulator = Simulator(options: options, logger: logger)
        let addresses = try await simulator.start()
        do {
            let value = try await body(simulator, addresses)
            await simulator.stop()
            return value
        } catch {
            await simulator.stop()
            throw error
        }
    }
}

extension SimulatorAddresses {
    /// The settings that send a server here.
    ///
    /// - Parameter folder: of the simulator's keys.
    func settings(keys folder: String) -> [String: String] {
        [
            "GRANDSTAND_APNS_KEY_DIR": folder,
            "GRANDSTAND_APNS_CA_FILE": caFile,
            "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL": url(.development),
            "GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL": url(.development),
            "GRANDSTAND_APNS_PRODUCTION_SEND_URL": url(.production),
            "GRANDSTAND_APNS_PRODUCTION_MANAGE_URL": url(.production),
        ]
    }
}
