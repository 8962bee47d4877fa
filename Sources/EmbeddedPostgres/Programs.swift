internal import Foundation

/// PostgreSQL's programs, and how they are started.
struct Programs: Sendable, Equatable {
    let folder: String
    /// The command that precedes a program, to run it under another account.
    var prefix: [String] = []

    /// Runs a program to its end.
    func run(_ name: String, _ arguments: [String], input: String = "") async throws -> ProgramRun {
        try await ProgramRun.of(prefix + ["\(folder)/\(name)"] + arguments, input: input)
    }

    /// The folders that are searched: `PATH`, then those of Debian and Homebrew with the highest version first.
    static func folders(path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") -> [String] {
        var folders = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        for place in ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            let newestFirst = names.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
            folders += newestFirst.map { "\(place)/\($0)/bin" }
        }
        return folders
    }

    /// All installations in order, without duplicates. A symbolic link to `postgres` is resolved, because the other
    /// programs are in the folder of its target.
    static func installed(in folders: [String]) -> [Programs] {
        var found: [Programs] = []
        for folder in folders {
            let postgres = URL(fileURLWithPath: "\(folder)/postgres").resolvingSymlinksInPath()
            let programs = Programs(folder: postgres.deletingLastPathComponent().path)
            let isComplete = ["postgres", "initdb", "pg_ctl"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(programs.folder)/\($0)")
            }
            if isComplete, !found.contains(programs) { found.append(programs) }
        }
        return found
    }

    /// The programs for data of `version`. nil: there are no data yet, so the first installation is used.
    ///
    /// - Throws: `PostgresClusterError` if there is no installation, or none of this version.
    static func find(_ version: String?, in folders: [String], data: String) async throws -> Programs {
        let found = installed(in: folders)
        guard let first = found.first else {
            throw PostgresClusterError(
                description: "the embedded database needs PostgreSQL's programs (initdb, postgres): install them with "
                    + "`apt-get install postgresql` or `brew install postgresql`, or set DATABASE_URL")
        }
        guard let version else { return first }
        for programs in found {
            let run = try? await programs.run("postgres", ["--version"])
            if run.flatMap({ majorVersion(in: $0.output) }) == version { return programs }
        }
        let (debian, homebrew) = ("postgresql-\(version)", "postgresql@\(version)")
        throw PostgresClusterError(
            description: "\(data) was made by PostgreSQL \(version), whose programs are not installed: install them "
                + "(`apt-get install \(debian)` or `brew install \(homebrew)`), or choose another GRANDSTAND_DATA_DIR")
    }

    /// "postgres (PostgreSQL) 15.6 (Debian 15.6-1)" → "15"; "… 18beta1" → "18".
    static func majorVersion(in line: String) -> String? {
        line.firstMatch(of: /\(PostgreSQL\) ([0-9]+)/).map { String($0.1) }
    }
}
