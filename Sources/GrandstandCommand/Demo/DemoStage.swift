internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandContract
internal import GrandstandServer
internal import Logging

/// The running parts of the demo, in a temporary folder: a simulator, an embedded database, two servers on it, and a
/// key.
struct DemoStage: Sendable {
    let simulator: Simulator
    /// The address of the simulator's control API, which shows the phones.
    let control: String
    let address: URL
    /// The secret of a key with all scopes.
    let secret: String
    let client: GrandstandClient
    /// The client of the other server, which only answers API requests.
    let other: GrandstandClient
    /// The longest work is to find a channel whose creation was not answered: some seconds.
    var organiser: Organiser { Organiser(patience: .seconds(30)) { [client] in [client] } }

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
                let shared = [
                    "DATABASE_URL": server.databaseURL, "GRANDSTAND_PORT": "0", "GRANDSTAND_ROLES": "api",
                ]
                try await server.whileRunning { [logger] port in
                    let secret =
                        try await server.keys.create(
                            Contract.KeyDraft(name: "demo", scopes: [.admin]), by: .commandLine, now: Date()
                        ).secret ?? ""
                    let second = try await Server.build(
                        try Configuration(environment: environment.merging(shared) { $1 }), logger: logger)
                    try await second.whileRunning { other in
                        let address = try Server.address("http", port)
                        try await body(
                            DemoStage(
                                simulator: simulator, control: addresses.controlURL ?? "", address: address,
                                secret: secret, client: .once(address, key: secret),
                                other: .once(try Server.address("http", other), key: secret)))
                    }
                }
            }
        }
    }

    /// Waits until each delivery of a broadcast is accepted.
    ///
    /// - Throws: `PlayFailure` if one is not accepted.
    func settled(
        _ broadcast: GrandstandClient.Broadcast, called name: String
    ) async throws -> GrandstandClient.Broadcast {
        let done = try await organiser.settled(broadcast.id)
        for delivery in done.deliveries where delivery.state != .accepted {
            throw PlayFailure("\(name): \(delivery.state) in \(delivery.environment), \(delivery.reason ?? "")")
        }
        return done
    }

    /// Makes a call that the server must refuse with `status`.
    ///
    /// - Throws: `PlayFailure` for any other answer.
    func refusal<Value>(
        _ status: Int, of call: GrandstandClient.Call<Value>, at server: GrandstandClient
    ) async throws -> ServerProblem {
        let answer = try await server.exchange(call)
        guard answer.status == status else {
            throw PlayFailure("the server answered \(answer.status), not \(status): \(ServerProblem(answer))")
        }
        return ServerProblem(answer)
    }
}
