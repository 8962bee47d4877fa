internal import Foundation
internal import Logging

@testable internal import EmbeddedPostgres

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A folder that is removed after the test, and helpers for it.
final class Workshop: Sendable {
    static let silence = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let folder: String

    init(name: String = UUID().uuidString) throws {
        folder = Self.folder(named: name)
        // Only the owner may enter, as with `mktemp -d`.
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// The path of the folder with this name. If a test starts another process, the name contains the process ID of the
    /// test. The other process can find the folder, because the test is its parent.
    static func folder(named name: String) -> String {
        let place = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath()
        return place.appendingPathComponent("grandstand-test-\(name)").path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    var directory: String { "\(folder)/data" }

    func cluster(at directory: String? = nil, search: InstallationSearch = .standard()) -> PostgresCluster {
        PostgresCluster(
            directory: directory ?? self.directory, logger: Self.silence, durable: false, search: search)
    }

    /// Runs `body` with a running cluster.
    func withCluster<Value: Sendable>(
        at directory: String? = nil, _ body: (PostgresCluster, String) async throws -> Value
    ) async throws -> Value {
        let cluster = cluster(at: directory)
        let connection = try await cluster.start()
        do {
            let value = try await body(cluster, connection)
            await cluster.stop()
            return value
        } catch {
            await cluster.stop()
            throw error
        }
    }

    /// The answer of a cluster that runs only for this question.
    func answer(_ sql: String, at directory: String? = nil) async throws -> String {
        try await withCluster(at: directory) { _, connection in try await Self.ask(connection, sql) }
    }

    /// Creates a folder with programs that replace PostgreSQL's, and that everyone may run. Returns its path.
    func installation(version: String = "15", initdb: String = "exit 1") async throws -> String {
        let bin = "\(folder)/postgresql-\(version)"
        let programs = ["postgres": "echo 'postgres (PostgreSQL) \(version).1'", "initdb": initdb]
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
        for (name, script) in programs {
            // A program cannot be run while any process has its file open for writing. If the test process opened the
            // file, a child process that is just starting could inherit the open file. So a separate process writes the
            // file.
            let write = ["/bin/sh", "-c", #"cat >"$1" && chmod 755 "$1""#, "sh", "\(bin)/\(name)"]
            let run = try await CapturedRun.of(write, environment: [:], input: "#!/bin/sh\n\(script)\n")
            guard run.ending.isSuccess else { throw ProgramFailure(output: run.output) }
        }
        return bin
    }

    func log(of name: String) throws -> String {
        try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
    }

    /// Starts a server on the data without a cluster object, like a server that is left after a crash. Returns the path
    /// of the server's log.
    func startDetachedServer() async throws -> String {
        let layout = ClusterLayout(directory: directory, userID: geteuid())
        let installation = try await InstallationSearch.standard().installation(for: nil, data: layout.data)
        let account = try PostgresAccount.choose(layout: layout)
        let sockets = SocketFolder(layout: layout)
        try sockets.make(for: account)
        let launcher = try await Launcher.find(
            for: account, folders: [directory], program: installation.program("pg_ctl"))
        // The log is in the data folder, because the server's account writes it.
        let log = "\(layout.data)/detached.log"
        let command = launcher.command(
            installation.program("pg_ctl"),
            [
                "start", "--wait", "-D", layout.data, "-l", log,
                "-o", "-k '\(layout.socketFolder)' -c listen_addresses='' -F",
            ])
        let run = try await CapturedRun.of(command, environment: ChildEnvironment.make())
        guard run.ending.isSuccess else { throw ProgramFailure(output: run.output) }
        return log
    }

    /// The output of `psql` without headers and alignment.
    static func ask(_ connection: String, _ sql: String) async throws -> String {
        guard let installation = InstallationSearch.standard().installations().first else {
            throw PostgresClusterError(.binariesMissing)
        }
        let command = [installation.program("psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, connection]
        let answer = try await CapturedRun.of(command, environment: ChildEnvironment.make())
        guard answer.ending.isSuccess else { throw ProgramFailure(output: answer.output) }
        return answer.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A program exited with an error.
struct ProgramFailure: Error, CustomStringConvertible {
    let output: String
    var description: String { output }
}
