internal import Foundation
internal import Logging

@testable internal import EmbeddedPostgres

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

    var data: String { "\(directory)/postgres" }

    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    static func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }

    static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    func cluster(at directory: String? = nil, programs: [String]? = nil) -> PostgresCluster {
        PostgresCluster(
            directory: directory ?? self.directory, logger: Self.silence, durable: false, programs: programs)
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
        let programs = [
            "postgres": "echo 'postgres (PostgreSQL) \(version).1'", "initdb": initdb, "pg_ctl": "exit 1",
        ]
        try Self.makeFolder(bin)
        for (name, script) in programs {
            // A program cannot be run while any process has its file open for writing. If the test process opened the
            // file, a child process that is just starting could inherit the open file. So a separate process writes the
            // file.
            let write = ["/bin/sh", "-c", #"cat >"$1" && chmod 755 "$1""#, "sh", "\(bin)/\(name)"]
            _ = try await Self.output(ProgramRun.of(write, input: "#!/bin/sh\n\(script)\n"))
        }
        return bin
    }

    var log: String { get throws { try Self.text("\(directory)/postgres.log") } }

    /// Starts a server on the data without a cluster object, like a server that is left after a crash. Returns the path
    /// of the server's log, which is in the data folder, because the server's account writes it.
    func startDetachedServer(data: String) async throws -> String {
        let log = "\(data)/detached.log"
        let options = "-k '\(directory)/run' -c listen_addresses='' -F"
        let layout = ClusterLayout(directory: directory)
        try layout.makeSocketFolder(owner: try ServerAccount.choose(for: layout.data))
        // The end of `pg_ctl` is not waited for, because Foundation notices it only when the server has ended, too.
        let process = Process(try await pgctl(["start", "-w", "-D", data, "-l", log, "-o", options]))
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd().map { String(decoding: $0, as: UTF8.self) }
        guard layout.pidText?.contains("ready") == true else { throw ProgramFailure(output: text ?? "") }
        return log
    }

    func stopDetachedServer() async throws {
        _ = try await Self.output(ProgramRun.of(try await pgctl(["stop", "-D", data])))
    }

    /// A process of the server's account that is not PostgreSQL. It must be killed, because it may have inherited that
    /// SIGTERM is blocked.
    func startStranger() async throws -> Process {
        let account = try ServerAccount.choose(for: data)
        let stranger = Process((try await account?.wrapper(entering: ["/"]) ?? []) + ["/bin/sleep", "600"])
        // It must not hold the output of the tests open.
        (stranger.standardOutput, stranger.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try stranger.run()
        return stranger
    }

    /// A command of `pg_ctl` as the server's account.
    private func pgctl(_ arguments: [String]) async throws -> [String] {
        let programs = try await Programs.find(nil, in: Programs.folders(), data: data)
        let prefix = try await ServerAccount.choose(for: data)?.wrapper(entering: [directory])
        return (prefix ?? []) + ["\(programs.folder)/pg_ctl"] + arguments
    }

    /// The output of `psql` without headers and alignment.
    static func ask(_ connection: String, _ sql: String) async throws -> String {
        let programs = try await Programs.find(nil, in: Programs.folders(), data: "")
        return try await output(
            programs.run("psql", ["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, connection]))
    }

    private static func output(_ run: ProgramRun) throws -> String {
        guard run.status == 0 else { throw ProgramFailure(output: run.output) }
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A program exited with an error.
struct ProgramFailure: Error {
    let output: String
}
