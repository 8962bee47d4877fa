internal import Foundation
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A running server and the line that ties its life to ours.
///
/// A shell is its parent and holds one end of a pair of sockets, we the other. When our end closes, by `stop()` or because
/// this process ended, however it did, the shell stops the server.
final class ServerProcess: Sendable {
    /// Fast shutdown takes a checkpoint; after this the server is told to drop everything. It recovers at its next start.
    private static let timeout = Duration.seconds(30)

    private let shell: ChildProcess
    private let lifeline: Mutex<Descriptor?>

    /// Starts the server; its output goes to `log`.
    ///
    /// - Throws: `SystemError` when nothing could be started.
    init(launcher: Launcher, program: String, arguments: [String], log: Descriptor) throws {
        let line = try Descriptor.pipe()
        shell = try ChildProcess(
            launcher.command("/bin/sh", ["-c", Self.script, "grandstand-postgres", program] + arguments),
            environment: ChildEnvironment.make(), descriptors: [1: log, 2: log, 3: line.read])
        lifeline = Mutex(line.write)
    }

    /// False once the server has ended.
    var isRunning: Bool { shell.endingSoFar == nil }

    func ending() async {
        _ = await shell.ending
    }

    /// Stops the server and waits until it has ended. Safe to repeat.
    func stop(postmasterFile: String) async {
        lifeline.withLock { $0 = nil }
        let escalation = Task {
            try await Task.sleep(for: Self.timeout)
            if let file = PostmasterFile(path: postmasterFile) { kill(file.pid, SIGQUIT) }
        }
        _ = await shell.ending
        escalation.cancel()
    }

    /// - Signals meant for everybody (a service manager's) pass the shell by: it goes when the server goes.
    /// - The interrupt is repeated because a server that is just starting ignores it.
    /// - The server has no copy of the line, or of anything else of ours.
    private static let script = #"""
        trap '' HUP INT TERM
        "$@" 3<&- &
        server=$!
        (
            read -r line <&3
            while kill -INT "$server" 2>/dev/null; do sleep 1; done
        ) &
        reader=$!
        exec 3<&-
        wait "$server"
        status=$?
        kill -KILL "$reader" 2>/dev/null
        exit "$status"
        """#
}
