internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandServer
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Synchronization

/// A program in its own process. A shell runs between this process and the program, and kills the program when the
/// shell's standard input is closed. So the program ends when this object is released, and when this process ends in
/// any way.
final class ChildProcess: Sendable {
    private let process = Process()
    private let lifeline = Pipe()
    private let said: Said
    /// This stream ends when the server listens or the child has ended.
    private let listening: AsyncStream<Void>
    private let drained: Task<Void, Never>

    /// The output so far.
    private final class Said: Sendable {
        struct State {
            var text = ""
            var url = ""
        }

        let state = Mutex(State())
    }

    /// A line on standard input (`TERM`) makes the shell send SIGTERM to the child. The end of the input makes the
    /// shell kill the child and end. The shell closes its own standard error, so that the output pipe ends with the
    /// child. The shell does not use `wait`, because Foundation starts the shell with blocked signals, and the signals
    /// that report the child's end are among them.
    private static let script = #"""
        trap '' HUP INT TERM
        "$@" &
        child=$!
        exec >/dev/null 2>&1
        if read -r line; then
            kill -TERM "$child"
            while kill -0 "$child"; do sleep 0.1; done
        fi
        kill -KILL "$child"
        while kill -0 "$child"; do sleep 0.05; done
        """#

    /// Starts a program by its name or path.
    ///
    /// - Parameter keepsLog: whether the property `log` gets all output. Otherwise it gets the output up to the line that
    ///   has the server's address.
    init(_ command: [String], _ environment: [String: String], keepsLog: Bool = false) throws {
        let (listening, listens) = AsyncStream.makeStream(of: Void.self)
        let (ending, ends) = AsyncStream.makeStream(of: Void.self)
        let (output, said) = (Pipe(), Said())
        self.said = said
        self.listening = listening
        drained = Task { for await _ in ending {} }
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.script, "grandstand-child"] + command
        process.environment = environment.merging(["PATH": "/usr/sbin:/usr/bin:/bin"]) { own, _ in own }
        process.standardInput = lifeline
        process.standardOutput = output
        process.standardError = output
        try process.run()
        // The output is read to the end, so that the child never waits for a reader. A thread reads it, because the pipe of
        // a `readabilityHandler` may be closed before libdispatch has forgotten it, which ends this process.
        let reading = output.fileHandleForReading
        DispatchQueue(label: "output of a child").async {
            var data: Data
            repeat {
                data = reading.availableData
                let isKnown = said.state.withLock { state in
                    if keepsLog || state.url.isEmpty { state.text += String(decoding: data, as: UTF8.self) }
                    if state.url.isEmpty { state.url = Self.address(in: state.text) ?? "" }
                    return !state.url.isEmpty
                }
                if isKnown || data.isEmpty { listens.finish() }
            } while !data.isEmpty
            ends.finish()
        }
    }

    /// Starts `grandstand serve`, which was built with these tests, to be killed in mid-flight; returns when it listens.
    ///
    /// - Parameter wallLead: seconds by which the clock of its machine is ahead.
    /// - Throws: `ExitError` with the last line of the server's output, if the server ended instead.
    static func server(
        _ environment: [String: String], keepsLog: Bool = false, wallLead: Int = 0
    ) async throws -> ChildProcess {
        let program = Bundle.main.bundleURL.appending(path: wallLead == 0 ? "grandstand" : "SkewedServer")
        let server = try ChildProcess(
            [program.path, wallLead == 0 ? "serve" : "\(wallLead)"],
            environment.merging(["GRANDSTAND_LOG_FORMAT": "json"]) { $1 }, keepsLog: keepsLog)
        for await _ in server.listening {}
        if !server.url.isEmpty { return server }
        await server.kill()
        try Task.checkCancellation()
        throw ExitError("a server did not start: \(server.log.split(separator: "\n").last ?? "it said nothing")")
    }

    /// The address of the server.
    var url: String { said.state.withLock { $0.url } }
    /// The program's output so far, if the program was started with `keepsLog`.
    var log: String { said.state.withLock { $0.text } }

    /// Ends the program with SIGKILL, like a power cut, and returns when it has ended. A second call is harmless.
    func kill() async {
        try? lifeline.fileHandleForWriting.close()
        await end()
    }

    /// Ends the program with SIGTERM. Returns when the program has ended and all its output was read.
    func terminate() async {
        try? lifeline.fileHandleForWriting.write(contentsOf: Data("TERM\n".utf8))
        await end()
        await drained.value
    }

    /// Waits for the end, on a thread outside Swift's pool: the child may need an answer from this process before it
    /// can end.
    private func end() async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "grandstand.program").async {
                self.process.waitUntilExit()
                continuation.resume()
            }
        }
    }

    private static func address(in log: String) -> String? {
        log.split(separator: "\n").map { JSON($0.utf8) }.first { $0["message"]?.string == "listening" }?["url"]?.string
    }
}

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
