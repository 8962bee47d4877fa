internal import Foundation

/// A folder with PostgreSQL's programs.
struct PostgresInstallation: Sendable, Equatable {
    let folder: String

    func program(_ name: String) -> String { "\(folder)/\(name)" }

    /// The major version `postgres --version` names; nil when it cannot be run or says something else.
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

/// The folders in which PostgreSQL's programs are looked for.
struct InstallationSearch: Sendable {
    /// Folders of programs, tried in this order.
    let folders: [String]

    /// `PATH` first, then Debian's folders and Homebrew's, the highest version first.
    static func standard(path: String? = ProcessInfo.processInfo.environment["PATH"]) -> InstallationSearch {
        let onPath = (path ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let debian = children(of: "/usr/lib/postgresql", prefix: "")
        let homebrew = ["/opt/homebrew/opt", "/usr/local/opt"].flatMap { children(of: $0, prefix: "postgresql") }
        return InstallationSearch(folders: onPath + (debian + homebrew).map { "\($0)/bin" })
    }

    /// Every installation there is, in order, each once: a link on `PATH` is followed to its folder, where the other
    /// programs stand.
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

    /// The installation for data of `version` (nil: there is no data yet, so the first serves).
    ///
    /// - Throws: `PostgresClusterError` when there is none at all, or none of that version.
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
