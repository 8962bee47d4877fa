internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import Logging

/// The running parts of the demo, in a temporary folder: a simulator, an embedded database, a server, and a key.
struct DemoStage: Sendable {
    let simulator: Simulator
    /// The address of the simulator's control API, which shows the phones.
    let control: String
    let address: URL
    /// The secret of a key with all scopes.
    let secret: String
    let client: GrandstandClient

    /// Starts everything, runs `body`, and stops everything again.
    ///
    /// - Parameter port: the value of `GRANDSTAND_PORT`; 0: the system picks a free port.
    /// - Throws: `ConfigurationError` for a port that is not a number.
    static func with(
        port: String, settings: [String: String], _ body: @escaping @Sendable (DemoStage) async throws -> Void
    ) async throws {
        var logger = Logger(label: "demo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        try await withTemporaryFolder("grandstand-demo") { [logger] folder in
            try await Simulator.running(in: folder + "/apns", logger: logger) { options in
                options.controlPort = 0
            } _: { simulator, addresses in
                let environment = addresses.settings
                    .merging(["GRANDSTAND_DATA_DIR": folder + "/data", "GRANDSTAND_PORT": port]) { $1 }
                    .merging(settings) { $1 }
                let server = try await Server.build(try Configuration(environment: environment), logger: logger)
                try await server.whileRunning { port in
                    let issued = try await server.keys.create(
                        Contract.KeyDraft(name: "demo", scopes: [.admin]), by: .commandLine, now: Date())
                    guard let address = URL(string: "http://127.0.0.1:\(port)"), let secret = issued.secret else {
                        throw PlayFailure("the demo has no address or no key")
                    }
                    try await body(
                        DemoStage(
                            simulator: simulator, control: addresses.controlURL ?? "", address: address, secret: secret,
                            client: GrandstandClient(server: address, key: secret)))
                }
            }
        }
    }
}
