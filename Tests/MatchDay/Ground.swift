internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Synchronization

/// Everything a match day is played on: APNs, two PostgreSQL servers, replicas, HAProxy before them.
final class Ground: Sendable {
    static let replicas = 4
    static let bundleID = "com.example.matchday"

    let simulator: Simulator
    /// Through HAProxy, with a key that may do everything.
    let caller: Caller
    private let pair: PostgresPair
    private let settings: [String: String]
    private let port: Int
    private let folder: URL
    private let running = Mutex(Running(program: ""))
    private let logger: Logger

    private struct Running {
        var program: String
        var replicas: [Child?] = []
        var loadBalancer: Child?
    }

    /// Starts everything; returns once HAProxy has a replica that is ready.
    static func open(program: String, port: Int, loadBalancer: String, logger: Logger) async throws -> Ground {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "matchday-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var options = SimulatorOptions(directory: folder.path + "/apns")
        options.capitals = .accepted
        options.journalCapacity = 1_000_000
        let simulator = Simulator(options: options, logger: logger)
        let addresses = try await simulator.start()
        let pair = try await PostgresPair.start(in: folder.path, durable: true, isMigrated: false, logger: logger)
        let settings = environment(addresses).merging(["DATABASE_URL": pair.url]) { $1 }
        let secret = try await prepare(program, settings)
        let caller = Caller(url: "http://127.0.0.1:\(port)", secret: secret)
        let ground = Ground(simulator, caller, pair, settings, port, folder, logger)
        do {
            try await ground.start(program, loadBalancer)
        } catch {
            await ground.close()
            throw error
        }
        return ground
    }

    private init(
        _ simulator: Simulator, _ caller: Caller, _ pair: PostgresPair, _ settings: [String: String], _ port: Int,
        _ folder: URL, _ logger: Logger
    ) {
        self.simulator = simulator
        self.caller = caller
        self.pair = pair
        self.settings = settings
        self.port = port
        self.folder = folder
        self.logger = logger
    }

    private static func environment(_ addresses: SimulatorAddresses) -> [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "GRANDSTAND_APNS_KEY_DIR": URL(filePath: addresses.keyFile).deletingLastPathComponent().path,
            "GRANDSTAND_APNS_CA_FILE": addresses.caFile,
            "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL": addresses.url(.development),
            "GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL": addresses.url(.development),
            "GRANDSTAND_APNS_PRODUCTION_SEND_URL": addresses.url(.production),
            "GRANDSTAND_APNS_PRODUCTION_MANAGE_URL": addresses.url(.production),
            "GRANDSTAND_LOG_LEVEL": "warning", "GRANDSTAND_LOG_FORMAT": "json",
        ]
    }

    /// The program's own schema, and a key.
    private static func prepare(_ program: String, _ settings: [String: String]) async throws -> String {
        try await run(program, ["migrate"], settings)
        return try await run(program, ["keys", "create", "--name", "matchday", "--scope", "admin"], settings)
            .split(separator: "\n").last.map(String.init) ?? ""
    }

    @discardableResult
    private static func run(
        _ program: String, _ arguments: [String], _ settings: [String: String]
    ) async throws -> String {
        let output = try await Program.run(URL(filePath: program), arguments, environment: settings)
        guard output.exitCode == 0 else { throw Mishap("\(program) \(arguments[0]): \(output.text)") }
        return output.text
    }

    private func start(_ program: String, _ configuration: String) async throws {
        running.withLock { $0.program = program }
        let children = try (0..<Self.replicas).map { try replica($0, program) }
        var variables = ["GRANDSTAND_BIND": "127.0.0.1:\(port)"]
        for (index, name) in ["ONE", "TWO", "THREE", "FOUR"].enumerated() {
            variables["GRANDSTAND_" + name] = "127.0.0.1:\(port + 1 + index)"
        }
        let loadBalancer = try Child(["haproxy", "-db", "-f", configuration], variables, log: log("haproxy"))
        running.withLock { running in
            running.replicas = children
            running.loadBalancer = loadBalancer
        }
        for index in 0..<Self.replicas { try await ready(index) }
        try await until("HAProxy has a replica that is ready") { try await self.caller.isReady() }
    }

    private func replica(_ index: Int, _ program: String) throws -> Child {
        try Child(
            [program, "serve"], settings.merging(["GRANDSTAND_PORT": "\(port + 1 + index)"]) { $1 },
            log: log("replica-\(index + 1)"))
    }

    private func log(_ name: String) -> String { folder.appending(path: name + ".log").path }

    private func ready(_ index: Int) async throws {
        let caller = Caller(url: "http://127.0.0.1:\(port + 1 + index)", secret: "")
        try await until("replica \(index + 1) is ready (\(log("replica-\(index + 1)")))") { try await caller.isReady() }
    }

    // MARK: What happens to it

    /// SIGKILL; a supervisor starts it again at once.
    func killReplica(_ index: Int) async throws {
        let (child, program) = running.withLock { ($0.replicas[index], $0.program) }
        await child?.kill()
        let next = try replica(index, program)
        running.withLock { $0.replicas[index] = next }
    }

    /// The primary dies and stays dead; the standby takes its place at once.
    func failOver() async throws { try await pair.failOver() }

    /// A rolling deploy: one after the other is asked to stop, and started anew as the newer build.
    func replaceAll(by newer: String?) async throws {
        let program = running.withLock { running in
            running.program = newer ?? running.program
            return running.program
        }
        if newer != nil { try await Self.run(program, ["migrate"], settings) }
        for index in 0..<Self.replicas {
            await running.withLock { $0.replicas[index] }?.terminate()
            let next = try replica(index, program)
            running.withLock { $0.replicas[index] = next }
            try await ready(index)
        }
    }

    /// What the surviving database says.
    func rows(_ query: PostgresQuery) async throws -> PostgresRows {
        var configuration = PostgresConfiguration(connectionString: pair.url)
        configuration.mustWrite = true
        let pool = PostgresPool(configuration: configuration, logger: logger)
        do {
            let rows = try await pool.query(query)
            await pool.close()
            return rows
        } catch {
            await pool.close()
            throw error
        }
    }

    func close() async {
        let (replicas, loadBalancer) = running.withLock { ($0.replicas, $0.loadBalancer) }
        for replica in replicas { await replica?.kill() }
        await loadBalancer?.kill()
        await pair.stop()
        await simulator.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// Why a match day could not be played.
struct Mishap: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
