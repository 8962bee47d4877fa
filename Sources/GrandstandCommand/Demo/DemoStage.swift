internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import Logging

/// Everything the demo needs, running: a simulator, an embedded database, a server, another server on the same database,
/// and a key; in a folder of its own.
struct DemoStage: Sendable {
    let simulator: Simulator
    let address: URL
    /// A key that may do everything.
    let secret: String
    let client: GrandstandClient
    /// To the other server, which only answers requests.
    let other: GrandstandClient

    static let team = "SIMULATOR1"
    static let key = "SIMULATOR1"

    /// Sets everything up, runs `body`, and takes everything down again.
    ///
    /// - Parameter port: where the API listens; 0 picks a free one.
    static func with(
        port: Int, settings: [String: String], _ body: @escaping @Sendable (DemoStage) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("grandstand-demo-\(getpid())").path
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }

        var logger = Logger(label: "demo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        var options = SimulatorOptions(directory: folder + "/apns")
        options.capitals = .refused
        let simulator = Simulator(options: options, logger: logger)
        let addresses = try await simulator.start()
        do {
            let environment = Self.environment(addresses, folder: folder, port: port).merging(settings) { $1 }
            let configuration = try Configuration(environment: environment)
            let server = try await Server.build(configuration, logger: logger)
            let scheme = configuration.tls == nil ? "http" : "https"
            let shared = [
                "DATABASE_URL": server.databaseURL, "GRANDSTAND_PORT": "0", "GRANDSTAND_ROLES": "api",
            ]
            try await run(server) { [logger] port in
                let (_, secret) = try await server.keys.create(
                    name: "demo", scopes: [.admin], bundleID: nil, by: .commandLine)
                let second = try await Server.build(
                    try Configuration(environment: environment.merging(shared) { $1 }), logger: logger)
                try await run(second) { other in
                    try await body(
                        DemoStage(
                            simulator: simulator, address: try address(scheme, port), secret: secret,
                            client: GrandstandClient(url: try address(scheme, port), apiKey: secret),
                            other: GrandstandClient(url: try address(scheme, other), apiKey: secret)))
                }
            }
            await simulator.stop()
        } catch {
            await simulator.stop()
            throw error
        }
    }

    private static func environment(
        _ addresses: SimulatorAddresses, folder: String, port: Int
    ) -> [String: String] {
        [
            "GRANDSTAND_DATA_DIR": folder + "/data",
            "GRANDSTAND_PORT": String(port),
            "GRANDSTAND_APNS_KEY_DIR": folder + "/apns",
            "GRANDSTAND_APNS_CA_FILE": addresses.caFile,
            "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL": addresses.url(.development),
            "GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL": addresses.url(.development),
            "GRANDSTAND_APNS_PRODUCTION_SEND_URL": addresses.url(.production),
            "GRANDSTAND_APNS_PRODUCTION_MANAGE_URL": addresses.url(.production),
        ]
    }

    private static func address(_ scheme: String, _ port: Int) throws -> URL {
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)") else { throw DemoFailure("no address") }
        return url
    }

    /// Runs the server for as long as `body` takes, which gets its port.
    private static func run(_ server: Server, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await server.run { continuation.yield($0) }
            }
            group.addTask {
                var iterator = ports.makeAsyncIterator()
                guard let port = await iterator.next() else { throw DemoFailure("the server did not start") }
                try await body(port)
            }
            // The first to end is the body, unless the server failed.
            try await group.next()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }
}
