internal import APNsSimulator
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandStore
internal import Postgres

extension Stadium {
    /// An intervention and its target.
    enum Kill: String, CaseIterable {
        /// A server, with SIGKILL; another is started.
        case server
        /// Every connection to PostgreSQL.
        case connections
        /// PostgreSQL, as a power cut ends it; it is started again.
        case database

        static func any(_ random: inout SplitMix) -> Kill { allCases[random.next(below: allCases.count)] }
    }

    /// - Parameter victim: which server.
    func perform(_ kill: Kill, on victim: Int) async {
        switch kill {
        case .server: killServer(victim)
        case .connections: await killConnections()
        case .database: await killDatabase()
        }
    }

    /// Gives `body` the place for two replicas, with a simulator and a PostgreSQL of its own, and stops all of it
    /// afterwards.
    static func with(
        events: Int, settings: [String: String] = [:], _ body: (Stadium, Simulator) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        var options = SimulatorOptions(directory: folder.path + "/apns")
        options.capitals = .accepted
        options.journalCapacity = 1_000_000
        let simulator = Simulator(options: options, logger: Stage.logger)
        let addresses = try await simulator.start()
        let cluster = PostgresCluster(directory: folder.path + "/database", logger: Stage.logger)
        var environment = Stage.apns(addresses).merging(settings) { $1 }
        environment["DATABASE_URL"] = try await migrated(cluster)
        environment["GRANDSTAND_RECONCILE_INTERVAL"] = "0"
        let stadium = Stadium(
            environment: environment, cluster: cluster,
            postmasterFile: folder.path + "/database/postgres/postmaster.pid",
            simulator: simulator, secret: try await Stage.secret(environment), events: events)
        do {
            try await body(stadium, simulator)
        } catch {
            stadium.stop()
            await cluster.stop()
            await simulator.stop()
            throw error
        }
        stadium.stop()
        await cluster.stop()
        await simulator.stop()
    }

    private static func migrated(_ cluster: PostgresCluster) async throws -> String {
        let connectionString = try await cluster.start()
        let pool = PostgresPool(
            configuration: PostgresConfiguration(connectionString: connectionString), logger: Stage.logger)
        _ = try await Migrator(pool).migrate()
        await pool.close()
        return connectionString
    }
}
