internal import APNsSimulator
internal import APNsWire
internal import EmbeddedPostgres
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandContract
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// The real server on a real database, the simulator in Apple's place, and a key that may do everything.
struct Stage: Sendable {
    let simulator: Simulator
    let server: Server
    /// The server's run; cancelling it is a graceful stop, as SIGTERM is.
    let running: Task<Void, any Error>
    let url: String
    /// A caller with a key of scope `admin`.
    let api: HTTPCaller
    /// The client that organisers and apps use, with the same key as `api`.
    let client: GrandstandClient

    /// The test's app and its event. `Stage.own` gives each test its own.
    var bundleID = Stage.bundleID
    var event = "derby"

    /// The bundle ID has capitals on purpose: APNs refuses capitals in its management paths and accepts them in the
    /// send path.
    static let bundleID = "com.example.Stadium"

    static let logger: Logger = {
        var logger = Logger(label: "end-to-end") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        return logger
    }()

    /// Webhooks whose receivers listen on loopback, without TLS.
    static let localWebhooks = ["GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_WEBHOOK_NETWORKS": "127.0.0.0/8"]

    /// Runs `body` against a server that is stopped gracefully afterwards.
    ///
    /// - Parameters:
    ///   - settings: are added to the necessary settings, or replace them. By default lanes do not wait between two
    ///     messages.
    ///   - options: changes the simulator's options before its start.
    static func with(
        settings: [String: String] = [:], options: (inout SimulatorOptions) -> Void = { _ in },
        _ body: (Stage) async throws -> Void
    ) async throws {
        try await place(settings: settings, options: options) { environment, simulator in
            try await serve(environment, simulator: simulator, body)
        }
    }

    /// Runs `body` with a simulator and the settings of a server that uses it. `body` may start any number of servers.
    static func place<Value: Sendable>(
        settings: [String: String] = [:], options: (inout SimulatorOptions) -> Void = { _ in },
        _ body: ([String: String], Simulator) async throws -> Value
    ) async throws -> Value {
        let folder = try TemporaryFolder()
        return try await Simulator.running(in: folder.path + "/apns", logger: logger, options: options) {
            simulator, addresses in
            let environment = apns(addresses).merging(settings) { $1 }
            // A test that makes its own cluster fail keeps the default of how long a call may wait.
            if settings["DATABASE_URL"] != nil { return try await body(environment, simulator) }
            return try await withDatabase(.own) { database in
                // Many tests share this machine, so a call may have to wait longer than a client should.
                let own = ["DATABASE_URL": database.connectionString, "GRANDSTAND_DATABASE_WAIT": "60"]
                return try await body(environment.merging(own) { given, _ in given }, simulator)
            }
        }
    }

    /// Runs `body` with a PostgreSQL of its own, which it may freeze or kill, the settings of servers that use it, and a
    /// simulator.
    ///
    /// - Parameter tcpPort: how servers reach PostgreSQL; `nil`: over its socket.
    static func onCluster<Value: Sendable>(
        settings: [String: String] = [:], durable: Bool = false, tcpPort: Int? = nil,
        options: (inout SimulatorOptions) -> Void = { _ in },
        _ body: (PostgresCluster, [String: String], Simulator) async throws -> Value
    ) async throws -> Value {
        let folder = try TemporaryFolder()
        let cluster = PostgresCluster(
            directory: folder.path + "/database", logger: logger, durable: durable, tcpPort: tcpPort)
        let stop = {
            try? cluster.freeze(false)
            await cluster.stop()
        }
        return try await withCleanup(stop) {
            let own = ["DATABASE_URL": try await cluster.startMigrated()]
            return try await place(settings: settings.merging(own) { $1 }, options: options) {
                try await body(cluster, $0, $1)
            }
        }
    }

    /// The settings that send the server to a simulator; lanes do not wait between two messages.
    static func apns(_ addresses: SimulatorAddresses) -> [String: String] {
        addresses.settings.merging(["GRANDSTAND_LANE_INTERVAL": "0"]) { $1 }
    }

    /// A pool on the database of these settings, which the caller closes.
    static func pool(_ environment: [String: String]) -> PostgresPool {
        PostgresPool(configuration: .init(connectionString: environment["DATABASE_URL"] ?? ""), logger: logger)
    }

    /// Builds and runs a server for as long as `body` takes; returns once it has stopped.
    static func serve(
        _ environment: [String: String], simulator: Simulator, _ body: (Stage) async throws -> Void
    ) async throws {
        let server = try await Server.build(try Configuration(environment: environment), logger: logger)
        try await server.whileRunning { port, running in
            let url = "http://127.0.0.1:\(port)"
            let (_, secret) = try await server.keys.create(name: "test", scopes: [.admin], bundleID: nil)
            try await body(
                Stage(
                    simulator: simulator, server: server, running: running, url: url,
                    api: HTTPCaller(url: url, secret: secret),
                    client: GrandstandClient(server: try #require(URL(string: url)), key: secret)))
        }
    }

    /// A caller with a key of these scopes.
    func caller(_ scopes: Set<Contract.Scope>, app: String? = nil) async throws -> HTTPCaller {
        let bundleID = try app.map { try #require(BundleID(rawValue: $0)) }
        let (_, secret) = try await server.keys.create(name: "scoped", scopes: scopes, bundleID: bundleID)
        return HTTPCaller(url: url, secret: secret)
    }

    /// Migrates the database of these settings, and returns the secret of a new key that may do everything.
    static func secret(_ environment: [String: String]) async throws -> String {
        let server = try await Server.build(try Configuration(environment: environment), logger: logger)
        let (_, secret) = try await server.keys.create(name: "test", scopes: [.admin], bundleID: nil)
        await server.close()
        return secret
    }
}

/// One server for all suites that have the trait `.sharedStage`. It starts with their first test, and stops after the
/// last of these suites.
actor SharedStage {
    fileprivate static let current = SharedStage()

    /// No reconciliation runs by itself.
    private static let settings = Stage.localWebhooks.merging([
        "GRANDSTAND_RECONCILE_INTERVAL": "0", "GRANDSTAND_RECONCILE_GRACE": "0",
    ]) { $1 }

    private var running:
        (stage: Task<Stage, any Error>, run: Task<Void, any Error>, stop: AsyncStream<Void>.Continuation)?
    private var suites = 0

    fileprivate func stage() async throws -> Stage {
        if let running { return try await running.stage.value }
        let (stages, started) = AsyncThrowingStream<Stage, any Error>.makeStream()
        let (stops, stop) = AsyncStream<Void>.makeStream()
        // Detached: the server does not belong to the test that happens to be the first.
        let run = Task.detached {
            do {
                try await Stage.with(settings: Self.settings) { stage in
                    started.yield(stage)
                    for await _ in stops {}
                }
                started.finish()
            } catch {
                started.finish(throwing: error)
                throw error
            }
        }
        let stage = Task.detached {
            for try await stage in stages { return stage }
            throw CancellationError()
        }
        running = (stage, run, stop)
        return try await stage.value
    }

    fileprivate func enter() { suites += 1 }

    fileprivate func leave() async throws {
        suites -= 1
        guard suites == 0, let running else { return }
        self.running = nil
        running.stop.finish()
        try await running.run.value
    }
}

/// The tests of the suite use `Stage.own`.
struct OnSharedStage: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await SharedStage.current.enter()
        try await ending(with: { try await SharedStage.current.leave() }, function)
    }
}

extension Trait where Self == OnSharedStage {
    static var sharedStage: Self { Self() }
}

extension Stage {
    /// The shared server, with an app and an event that no other test has.
    static func own() async throws -> Stage {
        var stage = try await SharedStage.current.stage()
        let name = UUID().uuidString.prefix(8).lowercased()
        stage.bundleID += "-" + name
        stage.event += "-" + name
        return stage
    }
}
