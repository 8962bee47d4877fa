internal import Foundation

/// A folder with PostgreSQL's programs.
struct PostgresInstallation: Sendable, Equatable {
    let folder: String

    func program(_ name: String) -> String { "\(folder)/\(name)" }

    /// The major version in the output of `postgres --version`; nil if it cannot be run or prints something else.
    func majorVersion() async -> String? {
        let answer = try? await CapturedRun.of(
            [program("postgres"), "--version"], environment: ChildEnvironment.make())
        return answer.flatMap { Self.majorVersion(inLine: $0.output) }
    }

    /// "postgres (PostgreSQL) 15.6 (Debian 15.6-1)" → "15"; "… 18beta1" → "18".
    static func majorVersion(inLine line: String) -> String? {
        guard let start = line.range(of: "(PostgreSQL) ")?.upperBound else { return nil }
        let digits = line[start...].prefix { $0.isASCII && $0.isNumber }
        return digits.isEmpty ? nil : String(digits)
    }
}

/// The folders that are searched for PostgreSQL's programs.
struct InstallationSearch: Sendable {
    /// The folders in the order of the search.
    let folders: [String]

    /// `PATH`, followed by the folders of Debian and Homebrew with the highest version first.
    static func standard(path: String? = ProcessInfo.processInfo.environment["PATH"]) -> InstallationSearch {
        let onPath = (path ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let debian = children(of: "/usr/lib/postgresql", prefix: "")
        let homebrew = ["/opt/homebrew/opt", "/usr/local/opt"].flatMap { children(of: $0, prefix: "postgresql") }
        return InstallationSearch(folders: onPath + (debian + homebrew).map { "\($0)/bin" })
    }

    /// All installations in order, without duplicates. A symbolic link to `postgres` is resolved, because the other
    /// programs are in the folder of its target.
    func installations() -> [PostgresInstallation] {
        let files = FileManager.default
        var found: [PostgresInstallation] = []
        for folder in folders where files.isExecutableFile(atPath: "\(folder)/postgres") {
            let program = URL(fileURLWithPath: "\(folder)/postgres").resolvingSymlinksInPath()
            let installation = PostgresInstallation(folder: program.deletingLastPathComponent().path)
            guard files.isExecutableFile(atPath: installation.program("initdb")) else { continue }
            if !found.contains(installation) { found.append(installation) }
        }
        return found
    }

    /// The installation for data of `version`. nil: there are no data yet, so the first installation is used.
    ///
    /// - Throws: `PostgresClusterError` if there is no installation, or none of this version.
    func installation(for version: String?, data: String) async throws -> PostgresInstallation {
        let found = installations()
        guard let first = found.first else { throw PostgresClusterError(.binariesMissing) }
        guard let version else { return first }
        var versions: [String] = []
        for installation in found {
            guard let itsVersion = await installation.majorVersion() else { continue }
            if itsVersion == version { return installation }
            if !versions.contains(itsVersion) { versions.append(itsVersion) }
        }
        throw PostgresClusterError(.otherVersion(data: data, needed: version, installed: versions))
    }

    private static func children(of folder: String, prefix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let newestFirst = names.filter { $0.hasPrefix(prefix) }.sorted {
            $0.compare($1, options: .numeric) == .orderedDescending
        }
        return newestFirst.map { "\(folder)/\($0)" }
    }
}
