internal import Foundation
internal import GrandstandTestKit

/// PgBouncer before the database of a test.
struct PgBouncer: Sendable {
    /// Where clients reach the database.
    let url: String
    private let process: ChildProcess

    static let program = ["/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Starts PgBouncer in the folder; returns once PgBouncer takes clients.
    ///
    /// - Parameters:
    ///   - mode: `session`, `transaction` or `statement`.
    ///   - database: the connection string of the database behind PgBouncer.
    ///   - settings: more lines of PgBouncer's configuration.
    static func start(
        _ mode: String, before database: String, in folder: String, settings: String = ""
    ) async throws -> PgBouncer {
        guard let program else { throw NeverHappened(what: "pgbouncer is installed: run scripts/setup") }
        let place = folder + "/" + mode
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let configuration = """
            [databases]
            grandstand = \(database)
            [pgbouncer]
            listen_addr =
            listen_port = 6432
            unix_socket_dir = \(place)
            auth_type = any
            pool_mode = \(mode)
            default_pool_size = 60
            max_client_conn = 200
            \(settings)
            """
        try configuration.write(toFile: place + "/pgbouncer.ini", atomically: true, encoding: .utf8)
        var command = [program, place + "/pgbouncer.ini"]
        if geteuid() == 0 {
            // PgBouncer refuses to run as root, so it runs as `postgres`, the owner of the database's socket. This
            // account must have access to the folders.
            for path in [folder, place] { chmod(path, 0o777) }
            command.insert(contentsOf: ["-u", "postgres"], at: 1)
        }
        let process = try ChildProcess(command, [:])
        try await until("PgBouncer takes clients") {
            FileManager.default.fileExists(atPath: place + "/.s.PGSQL.6432")
        }
        return PgBouncer(url: "host='\(place)' port=6432 user=grandstand dbname=grandstand", process: process)
    }

    func stop() async { await process.kill() }
}
