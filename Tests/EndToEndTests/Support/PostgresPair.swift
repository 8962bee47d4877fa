internal import EmbeddedPostgres
internal import GrandstandTestKit
internal import Logging
internal import Postgres

/// A primary and a standby with synchronous replication: a commit is reported only after the standby has it.
struct PostgresPair: Sendable {
    let primary: PostgresCluster
    let standby: PostgresCluster
    let primaryURL: String
    /// A connection string with both hosts, the primary first.
    let url: String

    /// The connection string of the first host with the second host added.
    static func url(_ first: String, _ second: String) -> String {
        let host = /host='([^']+)'/
        let other = second.firstMatch(of: host)?.output.1 ?? ""
        return first.replacing(host) { "host='\($0.output.1),\(other)'" }
    }

    /// Runs `body` with a pair in this folder, and stops the pair afterwards.
    static func with(
        in folder: String, logger: Logger, isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresPair) async throws -> Void
    ) async throws {
        let primary = PostgresCluster(directory: folder + "/one", logger: logger, durable: false)
        let standby = PostgresCluster(directory: folder + "/two", logger: logger, durable: false)
        let stop = {
            try? standby.freeze(false)
            await standby.stop()
            await primary.stop()
        }
        try await ending(with: stop) {
            let primaryURL = try await primary.startMigrated()
            try await standby.follow(primaryURL)
            let pair = PostgresPair(
                primary: primary, standby: standby, primaryURL: primaryURL,
                url: url(primaryURL, try await standby.start()))
            try await pair.synchronise()
            try await body(pair)
        }
    }

    /// From now on, a commit waits for the standby. This is set only in the primary's configuration, so that a promoted
    /// standby waits for no other server.
    private func synchronise() async throws {
        try await PostgresCluster.withPool(primaryURL) { pool in
            try await pool.withConnection {
                try await $0.script("alter system set synchronous_standby_names = '*'")
                try await $0.script("select pg_reload_conf()")
            }
            try await until("the standby is synchronous") {
                try await !pool.query("select from pg_stat_replication where sync_state = 'sync'").isEmpty
            }
        }
    }
}
