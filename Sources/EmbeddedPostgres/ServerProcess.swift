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
        let command = [Self.script, cluster.layout.processFile, "\(programs.folder)/postgres"] + arguments
        shell = Process(programs.prefix + ["/bin/sh", "-c"] + command)
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
    /// - The interrupt is repeated, because a server that is starting ignores it.
    private static let script = #"""
        trap '' HUP INT TERM
        exec 3<&0
        (
            read -r line <&3
            while kill -0 "$$"; do
                read -r server <"$0" && kill -INT "$server"
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
        guard let process = layout.serverFile?.split(separator: "\n").first else { return }
        let line = try await ProgramRun.of(["/bin/sh", "-c", Self.arguments, String(process)]).output
        if line.contains("/postgres -D \(layout.data) ") {
            // A shutdown writes a checkpoint. If that takes too long, the next start recovers the data.
            for mode in ["fast", "immediate"] {
                let stop = ["stop", "-D", layout.data, "-m", mode, "-w", "-t", "30"]
                if try await programs.run("pg_ctl", stop).status == 0 { return }
            }
            // `pg_ctl` also fails if the server has just ended by itself. Then there is no such file.
            guard layout.serverFile?.hasPrefix("\(process)\n") == true else { return }
            let advice = "end it with `kill -QUIT \(process)`"
            throw PostgresClusterError(
                description: "an earlier embedded database (process \(process)) does not stop: \(advice)")
        } else if line.prefix(while: { $0 != " " }).hasSuffix("/postgres"), kill(pid_t(process) ?? 0, 0) == 0 {
            throw PostgresClusterError.held(layout.directory, by: process)
        }
    }

    /// Prints the arguments of a process, joined by spaces; nothing if it has ended.
    private static let arguments = #"{ tr '\0' ' ' <"/proc/$0/cmdline" || ps -o command= -p "$0"; } 2>/dev/null"#
}
