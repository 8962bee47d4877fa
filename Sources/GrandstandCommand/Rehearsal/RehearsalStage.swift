internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON
internal import Logging
internal import MatchDriver

/// The running parts of a rehearsal: a simulator, a PostgreSQL, a server, and a second server process if the fault
/// kills one.
struct RehearsalStage: Sendable {
    let simulator: Simulator
    /// The address of the first server.
    let address: URL
    let organiser: Organiser
    /// Seconds after which an alert is too old, from the settings.
    let alertFreshness: TimeInterval
    private let database: DatabaseSession
    private let replica: ChildProcess?

    /// Starts everything, runs `body`, and stops everything again.
    static func with<Value: Sendable>(
        _ settings: [String: String], secondServer: Bool,
        _ body: @escaping @Sendable (RehearsalStage) async throws -> Value
    ) async throws -> Value {
        var logger = Logger(label: "rehearsal") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        return try await withTemporaryFolder("grandstand-rehearsal") { [logger] folder in
            try await Simulator.running(in: folder + "/apns", logger: logger) {
                $0.capitals = .refused
            } _: { simulator, addresses in
                let database = try await DatabaseSession.open(.embedded(directory: folder + "/data"), logger: logger)
                return try await withCleanup({ await database.close() }) {
                    let settings = settings.merging(addresses.settings) { $1 }
                        .merging(["DATABASE_URL": database.url]) { $1 }
                    let configuration = try Configuration(environment: settings)
                    let server = try await Server.build(configuration, logger: logger)
                    return try await server.whileRunning { port in
                        let secret = try await server.keys.create(
                            KeyDraft(name: "rehearsal", scopes: [.admin]), by: .commandLine, now: Date()
                        ).secret
                        let replica = secondServer ? try await startReplica(settings) : nil
                        let address = try Server.address("http", port)
                        let clients = ([address] + [replica.flatMap { URL(string: $0.url) }].compactMap(\.self))
                            .map { GrandstandClient.once($0, key: secret) }
                        let stage = RehearsalStage(
                            simulator: simulator, address: address,
                            organiser: Organiser { clients },
                            alertFreshness: configuration.alertFreshness, database: database, replica: replica)
                        return try await withCleanup({ await replica?.kill() }) { try await body(stage) }
                    }
                }
            }
        }
    }

    private static func startReplica(_ settings: [String: String]) async throws -> ChildProcess {
        guard let program = Bundle.main.executablePath else { throw StartError("this program's file is not known") }
        return try await ChildProcess.server(
            [program, "serve"], settings.merging(["GRANDSTAND_LOG_LEVEL": "info", "GRANDSTAND_PORT": "0"]) { $1 })
    }

    /// Causes the fault, and returns when it is over.
    func strike(_ kind: RehearsalFault.Kind, outage seconds: TimeInterval) async throws {
        switch kind {
        case .outage:
            try simulator.addFaults(
                #"{"faults": [{"name": "outage", "action": "refuse", "reason": "ServiceUnavailable"}]}"#)
            defer { simulator.removeFault("outage") }
            try await Task.sleep(for: .seconds(seconds))
        case .replica: await replica?.kill()
        case .database: try await database.restart()
        }
    }
}
