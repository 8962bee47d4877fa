internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The first start: runs `initdb` and creates the database in a temporary folder, which gets its final name when
/// everything is complete. So an interrupted first start leaves nothing incomplete.
struct ClusterCreation: Sendable {
    let layout: ClusterLayout
    let settings: ServerSettings
    let installation: PostgresInstallation
    let launcher: Launcher
    let account: PostgresAccount?

    /// - Throws: `PostgresClusterError.initdbFailed` with the error message of the program that failed; `SystemError`
    ///   for a problem with a folder.
    func run() async throws {
        removeLeftovers()
        let new = "\(layout.data)\(Self.suffix)\(UUID().uuidString)"
        try ClusterFolder.make(new, permissions: 0o700)
        do {
            try account?.own(new)
            try await run("initdb", settings.initdbArguments(data: new))
            try await run(
                "postgres", settings.singleUserArguments(data: new),
                input: "CREATE DATABASE \(ClusterLayout.database)\n")
            try Task.checkCancellation()
            guard rename(new, layout.data) == 0 else {
                throw SystemError(code: errno, call: "make \(layout.data)")
            }
            // Write the new name to disk before anything is committed in the folder.
            if settings.durable { fsync(try Descriptor.open(layout.directory, O_RDONLY).number) }
        } catch {
            try? FileManager.default.removeItem(atPath: new)
            throw error
        }
    }

    private static let suffix = ".new-"

    private func run(_ program: String, _ arguments: [String], input: String = "") async throws {
        let command = launcher.command(installation.program(program), arguments)
        let run = try await CapturedRun.of(command, environment: ChildEnvironment.make(), input: input)
        guard run.ending.isSuccess else {
            throw PostgresClusterError(.initdbFailed(lastLine: run.complaint))
        }
    }

    private func removeLeftovers() {
        let files = FileManager.default
        let prefix = URL(fileURLWithPath: layout.data).lastPathComponent + Self.suffix
        for name in (try? files.contentsOfDirectory(atPath: layout.directory)) ?? [] where name.hasPrefix(prefix) {
            try? files.removeItem(atPath: "\(layout.directory)/\(name)")
        }
    }
}
