internal import APNsSimulator
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit
internal import Logging
internal import MatchDriver
internal import Postgres
internal import Synchronization

/// The environment of a match day: the APNs simulator, two PostgreSQL servers, and replicas behind HAProxy.
final class Ground: Sendable {
    static let replicas = 4
    static let bundleID = "com.example.matchday"

    let simulator: Simulator
    /// Calls the API through HAProxy, with a key that may do everything.
    let organiser: Organiser
    private let pair: PostgresPair
    private let settings: [String: String]
    private let port: Int
    private let folder: String
    private let running: Mutex<Running>
    private let logger: Logger

    private struct Running {
        var program: String
        var replicas: [ChildProcess] = []
    }

    /// Starts everything, runs `body` once HAProxy has a replica that is ready, and ends everything.
    static func with<Value: Sendable>(
        program: String, port: Int, loadBalancer: String, logger: Logger, _ body: (Ground) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryFolder("matchday") { folder in
            try await Simulator.running(in: folder + "/apns", logger: logger) {
                $0.capitals = .accepted
            } _: { simulator, addresses in
                try await PostgresPair.with(in: folder, durable: true, isMigrated: false, logger: logger) { pair in
                    let settings = addresses.settings.merging([
                        "DATABASE_URL": pair.url, "GRANDSTAND_LOG_LEVEL": "warning", "GRANDSTAND_LOG_FORMAT": "json",
                    ]) { $1 }
                    let secret = try await prepare(program, settings)
                    let ground = try Ground(simulator, pair, settings, port, folder, program, secret, logger)
                    return try await withCleanup({ await ground.stop() }) {
                        let proxy = try await ground.start(loadBalancer)
                        return try await withCleanup({ await proxy.kill() }) { try await body(ground) }
                    }
                }
            }
        }
    }

    private init(
        _ simulator: Simulator, _ pair: PostgresPair, _ settings: [String: String], _ port: Int, _ folder: String,
        _ program: String, _ secret: String, _ logger: Logger
    ) throws {
        self.simulator = simulator
        self.pair = pair
        self.settings = settings
        self.port = port
        self.folder = folder
        self.logger = logger
        running = Mutex(Running(program: program))
        // A call times out early: if its replica was killed, or the database died, a new call is better than waiting. A
        // client has few connections, so there are several clients.
        let clients = try (0..<8).map { _ in
            GrandstandClient.once(try Self.url(port), key: secret, timeout: 5)
        }
        organiser = Organiser { clients }
    }

    private static func url(_ port: Int) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw PlayFailure("port \(port)") }
        return url
    }

    /// Creates the program's schema and a key, and returns the key's secret.
    static func prepare(_ program: String, _ settings: [String: String]) async throws -> String {
        try await run(program, ["migrate"], settings)
        return try await run(program, ["keys", "create", "--name", "matchday", "--scope", "admin"], settings)
            .split(separator: "\n").last.map(String.init) ?? ""
    }

    @discardableResult
    private static func run(
        _ program: String, _ arguments: [String], _ settings: [String: String]
    ) async throws -> String {
        let output = try await Program.run(URL(filePath: program), arguments, environment: settings)
        guard output.exitCode == 0 else { throw PlayFailure("\(program) \(arguments[0]): \(output.text)") }
        return output.text
    }

    private func start(_ configuration: String) async throws -> ChildProcess {
        for index in 0..<Self.replicas {
            let replica = try replica(index)
            running.withLock { $0.replicas.append(replica) }
        }
        var variables = ["GRANDSTAND_BIND": "127.0.0.1:\(port)"]
        for (index, name) in ["ONE", "TWO", "THREE", "FOUR"].enumerated() {
            variables["GRANDSTAND_" + name] = "127.0.0.1:\(port + 1 + index)"
        }
        let proxy = try ChildProcess(["haproxy", "-db", "-f", configuration], variables, log: log("haproxy"))
        for index in 0..<Self.replicas { try await ready(port + 1 + index, log("replica-\(index + 1)")) }
        try await ready(port, log("haproxy"))
        return proxy
    }

    private func replica(_ index: Int) throws -> ChildProcess {
        try ChildProcess(
            [running.withLock { $0.program }, "serve"],
            settings.merging(["GRANDSTAND_PORT": "\(port + 1 + index)"]) { $1 }, log: log("replica-\(index + 1)"))
    }

    private func log(_ name: String) -> String { "\(folder)/\(name).log" }

    private func ready(_ port: Int, _ log: String) async throws {
        let client = GrandstandClient.once(try Self.url(port), key: nil)
        try await until("port \(port) is ready (\(log))") {
            await (try? client.send("GET", "/readyz"))?.status == 200
        }
    }

    // MARK: What happens to it

    /// Kills a replica with SIGKILL and starts it again at once, as a supervisor would.
    func killReplica(_ index: Int) async throws {
        await running.withLock { $0.replicas[index] }.kill()
        try restart(index)
    }

    private func restart(_ index: Int) throws {
        let next = try replica(index)
        running.withLock { $0.replicas[index] = next }
    }

    /// Kills the primary for good and promotes the standby at once.
    func failOver() async throws { try await pair.failOver() }

    /// A rolling deployment: each replica in turn is asked to stop and is started again, with the newer build if there
    /// is one.
    func replaceAll(by newer: String?) async throws {
        if let newer {
            running.withLock { $0.program = newer }
            try await Self.run(newer, ["migrate"], settings)
        }
        for index in 0..<Self.replicas {
            await running.withLock { $0.replicas[index] }.terminate()
            try restart(index)
            try await ready(port + 1 + index, log("replica-\(index + 1)"))
        }
    }

    /// Queries the surviving database.
    func rows(_ query: PostgresQuery) async throws -> PostgresRows {
        var configuration = PostgresConfiguration(connectionString: pair.url)
        configuration.mustWrite = true
        let pool = PostgresPool(configuration: configuration, logger: logger)
        return try await withCleanup({ await pool.close() }) { try await pool.query(query) }
    }

    private func stop() async {
        for replica in running.withLock({ $0.replicas }) { await replica.kill() }
    }
}
