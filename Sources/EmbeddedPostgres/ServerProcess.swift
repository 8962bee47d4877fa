internal import Foundation
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A running server, and the connection that makes it end with this process.
///
/// The server's parent is a shell, which has one end of a pair of sockets; this process has the other. When our end
/// closes, by `stop()` or because this process has ended in any way, the shell stops the server.
final class ServerProcess: Sendable {
    /// The longest time for a fast shutdown, which writes a checkpoint. After this time the server is told to stop at
    /// once. It then recovers at its next start.
    private static let timeout = Duration.seconds(30)

    private let shell: ChildProcess
    private let lifeline: Mutex<Descriptor?>

    /// Starts the server with its output in `log`.
    ///
    /// - Throws: `SystemError` if nothing could be started.
    init(launcher: Launcher, program: String, arguments: [String], log: Descriptor) throws {
        let line = try Descriptor.pipe()
        shell = try ChildProcess(
            launcher.command("/bin/sh", ["-c", Self.script, "grandstand-postgres", program] + arguments),
            environment: ChildEnvironment.make(), descriptors: [1: log, 2: log, 3: line.read])
        lifeline = Mutex(line.write)
    }

    var isRunning: Bool { shell.endingSoFar == nil }

    func ending() async {
        _ = await shell.ending
    }

    /// Stops the server and waits until it has ended. This function may be called again.
    func stop(postmasterFile: String) async {
        lifeline.withLock { $0 = nil }
        let escalation = Task {
            try await Task.sleep(for: Self.timeout)
            if let file = PostmasterFile(path: postmasterFile) { kill(file.pid, SIGQUIT) }
        }
        _ = await shell.ending
        escalation.cancel()
    }

    /// - The shell ignores signals to the whole group (from a service manager), because it must end with the server.
    /// - The interrupt is repeated, because a server that is starting ignores it.
    /// - The server inherits neither the pair of sockets nor anything else of ours.
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
