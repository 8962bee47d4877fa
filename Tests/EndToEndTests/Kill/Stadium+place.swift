internal import APNsSimulator
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandTestKit

@testable internal import GrandstandCommand

extension Stadium {
    /// What is killed, and how.
    enum Kill: String, CaseIterable {
        /// A server is killed with SIGKILL, and another server is started.
        case server
        /// Every connection to PostgreSQL is ended.
        case connections
        /// PostgreSQL ends as in a power cut, and is started again.
        case database

        static func any(_ random: inout SplitMix) -> Kill { allCases[random.next(below: allCases.count)] }
    }

    /// - Parameter victim: which server.
    func perform(_ kill: Kill, on victim: Int) async {
        switch kill {
        case .server: await killServer(victim)
        case .connections: await killConnections()
        case .database: await killDatabase()
        }
    }

    /// Runs `body` with a simulator, a PostgreSQL and the settings of two replicas, and stops everything afterwards.
    static func with(
        events: Int, settings: [String: String] = [:], _ body: (Stadium, Simulator) async throws -> Void
    ) async throws {
        let settings = settings.merging(["GRANDSTAND_RECONCILE_INTERVAL": "0"]) { $1 }
        try await Stage.onCluster(settings: settings, durable: true, options: { $0.quirks.capitals = .accepted }) {
            cluster, environment, simulator in
            let stadium = Stadium(
                environment: environment, cluster: cluster, secret: try await Stage.secret(environment), events: events)
            try await withCleanup({ await stadium.stop() }) { try await body(stadium, simulator) }
        }
    }
}
