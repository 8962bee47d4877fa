internal import Foundation

/// How PostgreSQL's programs are started: directly, or under another account if we are root.
struct Launcher: Sendable, Equatable {
    /// The command that precedes the program and its arguments.
    let prefix: [String]

    func command(_ program: String, _ arguments: [String]) -> [String] { prefix + [program] + arguments }

    /// The first launcher that can enter `folders` and start `program`.
    ///
    /// `setpriv` is tried first, because it replaces itself with the program, while `runuser` stays as its parent. If
    /// folders are closed to the account (0700, owned by root), and only then, the program gets one capability: to
    /// search and read regardless of permissions. It may not write more than before. No permissions are changed.
    ///
    /// - Throws: `PostgresClusterError` that names the closed folder, or the reason why the account cannot be changed.
    static func find(for account: PostgresAccount?, folders: [String], program: String) async throws -> Launcher {
        guard let account else { return Launcher(prefix: []) }
        let ways = ways(for: account)
        guard let plainest = ways.first else {
            throw PostgresClusterError(
                .cannotLeaveRoot(why: "there is neither `setpriv` nor `runuser` (Debian: apt-get install util-linux)"))
        }
        var refusal: String?
        for way in ways {
            let run = try await way.probe(folders: folders, program: program)
            switch run.ending {
            case .exited(0): return way
            case .exited(closedFolder): continue
            default: refusal = refusal ?? run.lastLine
            }
        }
        for folder in folders + [URL(fileURLWithPath: program).deletingLastPathComponent().path] {
            guard let closed = await plainest.firstClosed(on: folder) else { continue }
            throw PostgresClusterError(
                .directoryUnusable(
                    path: folder,
                    why: "the user `\(account.name)`, as which PostgreSQL runs, may not enter \(closed): "
                        + "open it (chmod o+x) or choose another GRANDSTAND_DATA_DIR"))
        }
        throw PostgresClusterError(
            .cannotLeaveRoot(why: refusal ?? "no program can be started as the user `\(account.name)`"))
    }

    /// The exit code of `probe` if a folder cannot be entered or the program cannot be executed. `setpriv`, `runuser`
    /// (1, 126, 127) and the shell (2) use other codes.
    private static let closedFolder: Int32 = 77

    private static func ways(for account: PostgresAccount) -> [Launcher] {
        let capability = "+dac_read_search"
        let setpriv = program("setpriv").map {
            [$0, "--reuid=\(account.userID)", "--regid=\(account.groupID)", "--clear-groups"]
        }
        let searching = setpriv.map { $0 + ["--inh-caps=\(capability)", "--ambient-caps=\(capability)"] }
        let runuser = program("runuser").map { [$0, "-u", account.name] }
        return [setpriv, searching, runuser].compactMap { $0.map { Launcher(prefix: $0 + ["--"]) } }
    }

    private static func program(_ name: String) -> String? {
        ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private func probe(folders: [String], program: String) async throws -> CapturedRun {
        let script =
            #"program=$1; shift; for folder; do cd "$folder" || exit 77; done; test -x "$program" || exit 77"#
        let command = command("/bin/sh", ["-c", script, "sh", program] + folders)
        return try await CapturedRun.of(command, environment: ChildEnvironment.make())
    }

    /// The first folder of the path that cannot be entered.
    private func firstClosed(on path: String) async -> String? {
        var folder = ""
        for name in path.split(separator: "/") {
            folder += "/\(name)"
            let run = try? await probe(folders: [folder], program: "/bin/sh")
            if run?.ending != .exited(0) { return folder }
        }
        return nil
    }
}
