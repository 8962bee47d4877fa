internal import Foundation

/// What a server needs.
struct PreparedCluster: Sendable {
    let layout: ClusterLayout
    let programs: Programs
    /// The lock of the directory.
    let lock: FileHandle
}

/// A running server, with what makes it end with this process.
///
/// The server's parent is a shell, whose standard input is a pipe from this process. When our end closes, because this
/// process has ended in any way, the shell stops the server.
final class ServerProcess: Sendable {
    let cluster: PreparedCluster
    private let shell: Process
    private let lifeline = Pipe()

    /// Starts the server with its output in `log`.
    ///
    /// - Parameter stale: what is left of `postmaster.pid` by a server that has ended.
    /// - Throws: if nothing could be started.
    init(_ cluster: PreparedCluster, _ arguments: [String], log: FileHandle, stale: String?) throws {
        self.cluster = cluster
        let programs = cluster.programs
        let command = [Self.script, cluster.layout.externalPIDFile, "\(programs.folder)/postgres"] + arguments
        shell = Process(programs.commandPrefix + ["/bin/sh", "-c"] + command)
        // Another program may have the number of the ended server now: in a container the same numbers return at every
        // start. This variable, which `pg_ctl` sets to the number of its parent, tells PostgreSQL that the number in its
        // lock files is not a server's.
        shell.environment?["PG_GRANDPARENT_PID"] = stale.map { String($0.prefix { $0 != "\n" }) }
        shell.standardInput = lifeline
        shell.standardOutput = log
        shell.standardError = log
        try shell.run()
    }

    deinit {
        try? lifeline.fileHandleForWriting.close()
    }

    var isRunning: Bool { shell.isRunning }

    /// Stops the server and waits until it has ended, also if the caller was cancelled.
    func stop() async {
        await Task {
            try? await cluster.stopServer()
            try? lifeline.fileHandleForWriting.close()
            while isRunning { try? await Task.sleep(for: .milliseconds(10)) }
        }.value
        rmdir(cluster.layout.socketFolder)
        // Closing the file is not enough, because a child that is just being started also has it open.
        flock(cluster.lock.fileDescriptor, LOCK_UN)
    }

    /// - The shell ignores signals to the whole group (from a service manager), because it must end with the server.
    /// - The server runs in the foreground, because a shell with blocked signals, as Foundation starts it, cannot `wait`.
    /// - The interrupt is repeated, because a server that is starting ignores it. Only the file's first number counts,
    ///   because a successor writes its own server's number there.
    private static let script = #"""
        trap '' HUP INT TERM
        exec 3<&0
        (
            read -r line <&3
            while kill -0 "$$"; do
                read -r line <"$0" && kill -INT "${server:=$line}"
                sleep 0.1
            done
        ) 2>/dev/null &
        "$@" 3<&- </dev/null
        kill -KILL "$!"
        """#
}

extension PreparedCluster {
    /// Stops the server of this data, which an ended process may have left behind.
    ///
    /// - Throws: `PostgresClusterError` if the server does not stop, or somebody else has started it. A PostgreSQL of
    ///   another account, which we may not signal, only has the number of a server that has ended.
    func stopServer() async throws {
        guard let process = layout.pidText?.split(separator: "\n").first else { return }
        let line = try await ProgramRun.of(["/bin/sh", "-c", Self.argumentsScript, String(process)]).output
        if line.contains("/postgres -D \(layout.data) ") {
            // A shutdown writes a checkpoint. If that takes too long, the next start recovers the data.
            for mode in ["fast", "immediate"] {
                let stop = ["stop", "-D", layout.data, "-m", mode, "-w", "-t", "30"]
                if try await programs.run("pg_ctl", stop).status == 0 { return }
            }
            // `pg_ctl` also fails if the server has just ended by itself. Then there is no such file.
            guard layout.pidText?.hasPrefix("\(process)\n") == true else { return }
            let advice = "end it with `kill -QUIT \(process)`"
            throw PostgresClusterError(
                description: "an earlier embedded database (process \(process)) does not stop: \(advice)")
        } else if line.prefix(while: { $0 != " " }).hasSuffix("/postgres"), kill(pid_t(process) ?? 0, 0) == 0 {
            throw PostgresClusterError.held(layout.directory, by: process)
        }
    }

    /// Prints the arguments of a process, joined by spaces; nothing if it has ended.
    private static let argumentsScript = #"{ tr '\0' ' ' <"/proc/$0/cmdline" || ps -o command= -p "$0"; } 2>/dev/null"#
}

/// The account of the server if this process is root, because PostgreSQL refuses root.
struct ServerAccount: Sendable {
    let name: String
    let user: uid_t
    let group: gid_t

    /// The owner of the data, otherwise `postgres`, which Debian's package creates, otherwise `nobody`. Nil if this
    /// process is not root, because the server then has our account.
    ///
    /// - Throws: `PostgresClusterError` if the data belong to root or another account, or there is no such account.
    static func choose(for data: String) throws(PostgresClusterError) -> ServerAccount? {
        let isRoot = geteuid() == 0
        var owner = stat()
        guard lstat(data, &owner) == 0 else { return try isRoot ? standard() : nil }
        let attributes = try? FileManager.default.attributesOfItem(atPath: data)
        let name = attributes?[.ownerAccountName] as? String ?? "user \(owner.st_uid)"
        switch owner.st_uid {
        case 0 where isRoot:
            throw .unusable(data, "it belongs to root, whom PostgreSQL refuses: remove it or give it to `postgres`")
        case _ where isRoot: return ServerAccount(name: name, user: owner.st_uid, group: owner.st_gid)
        case geteuid(): return nil
        default: throw .unusable(data, "it belongs to \(name): run as that user")
        }
    }

    private static func standard() throws(PostgresClusterError) -> ServerAccount {
        for name in ["postgres", "nobody"] {
            var (entry, buffer) = (passwd(), [CChar](repeating: 0, count: 16 << 10))
            var found: UnsafeMutablePointer<passwd>?
            if getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil {
                return ServerAccount(name: name, user: entry.pw_uid, group: entry.pw_gid)
            }
        }
        throw .cannotLeaveRoot("there is neither a user `postgres` nor `nobody`")
    }

    /// The command that runs a program under this account, if the program can then enter `folders`.
    ///
    /// It is `setpriv`, of Debian's essential package util-linux: it replaces itself with the program, while `runuser`
    /// and `su` stay as its parent and open a PAM session, and it needs no name for the owner of the data. If folders
    /// are closed to the account (0700, owned by root), and only then, the program gets one capability: to search and
    /// read regardless of permissions. It may not write more than before. No permissions are changed.
    ///
    /// - Throws: `PostgresClusterError` that names the closed folder, or the reason why the account cannot be changed.
    func wrapper(entering folders: [String]) async throws -> [String] {
        let setpriv = "/usr/bin/setpriv"
        guard access(setpriv, X_OK) == 0 else {
            let advice = "there is no `\(setpriv)` (Debian: apt-get install util-linux)"
            throw PostgresClusterError.cannotLeaveRoot(advice)
        }
        let plain = [setpriv, "--reuid=\(user)", "--regid=\(group)", "--clear-groups"]
        let searching = plain + ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        let probe = ["--", "/bin/sh", "-c", Self.probe, "sh"] + folders
        let refusal = try await ProgramRun.of(plain + probe)
        if refusal.status == 0 { return plain + ["--"] }
        let why = refusal.output.errorLine
        guard refusal.status == 77 else { throw PostgresClusterError.cannotLeaveRoot(why) }
        if try await ProgramRun.of(searching + probe).status == 0 { return searching + ["--"] }
        throw PostgresClusterError.unusable(
            folders[0],
            "the user `\(name)`, as which PostgreSQL runs, may not enter \(why): "
                + "open it (chmod o+x) or choose another GRANDSTAND_DATA_DIR")
    }

    /// Prints the first closed folder on the way to its arguments, and ends with a status that `setpriv` does not use.
    private static let probe = #"""
        set -f; IFS=/
        for path; do
            cd /
            for name in $path; do cd "./$name" 2>/dev/null || { echo "${PWD%/}/$name"; exit 77; }; done
        done
        """#
}
