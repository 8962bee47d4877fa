internal import APNsSimulator
internal import APNsWire
internal import EmbeddedPostgres
internal import Foundation
internal import Grandstand
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
    /// The settings of the server. Another server with them uses the same database and the same simulator.
    let environment: [String: String]
    /// The event that steps are about if they do not name another.
    var event = "derby"

    /// The bundle ID has capitals on purpose: APNs refuses capitals in its management paths and accepts them in the
    /// send path.
    static let bundleID = "com.example.Stadium"

    /// The package's folder.
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    static let logger: Logger = {
        var logger = Logger(label: "end-to-end") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        return logger
    }()

    /// Runs `body` against a server that is stopped gracefully afterwards.
    ///
    /// - Parameter settings: are added to the necessary settings, or replace them. By default lanes do not wait between
    ///   two messages.
    static func with(
        settings: [String: String] = [:], _ body: (Stage) async throws -> Void
    ) async throws {
        try await place(settings: settings) { environment, simulator in
            try await serve(environment, simulator: simulator, body)
        }
    }

    /// Runs `body` with a simulator and the settings of a server that uses it. `body` may start any number of servers.
    static func place<Value: Sendable>(
        settings: [String: String] = [:], options: (inout SimulatorOptions) -> Void = { _ in },
        _ body: ([String: String], Simulator) async throws -> Value
    ) async throws -> Value {
        let folder = try TemporaryFolder()
        return try await Simulator.whileRunning(in: folder.path + "/apns", logger: logger, options: options) {
            simulator, addresses in
            let environment = addresses.serverEnv.merging(["GRANDSTAND_LANE_INTERVAL": "0"]) { $1 }
                .merging(settings) { $1 }
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
        return try await ending(with: stop) {
            let own = ["DATABASE_URL": try await cluster.startMigrated()]
            return try await place(settings: settings.merging(own) { $1 }, options: options) {
                try await body(cluster, $0, $1)
            }
        }
    }

    /// Runs `body` with a pool on the database of these settings.
    @discardableResult
    static func onDatabase<Value>(
        of environment: [String: String], isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        try await PostgresCluster.withPool(environment["DATABASE_URL"] ?? "", body)
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
                    api: HTTPCaller(url: url, secret: secret), environment: environment))
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

/// The tests of the suite share a server. They use `Stage.own`.
struct OnSharedStage: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Stage.with { stage in try await Stage.$shared.withValue(stage, operation: function) }
    }
}

extension Stage {
    @TaskLocal fileprivate static var shared: Stage?

    /// The suite's server, with an event that no other test has.
    static func own() throws -> Stage {
        var stage = try #require(shared)
        stage.event = "derby-" + UUID().uuidString.prefix(8).lowercased()
        return stage
    }
}
