internal import Foundation

/// A program as a process of its own. It ends with this process, however that ends: a shell between the two kills it as
/// soon as the shell's standard input is closed.
final class Child: Sendable {
    private let process: Process
    private let lifeline: Pipe

    /// It does not wait for its child: signals that Foundation leaves blocked would never tell it. `TERM` on the line is for
    /// the child, its end for both.
    private static let script = #"""
        trap '' HUP INT TERM
        "$@" &
        child=$!
        if read -r line; then
            kill -TERM "$child"
            while kill -0 "$child" 2>/dev/null; do sleep 0.1; done
        fi
        kill -KILL "$child" 2>/dev/null
        while kill -0 "$child" 2>/dev/null; do sleep 0.05; done
        """#

    /// Starts it, found by its name or its path.
    init(_ command: [String], _ environment: [String: String], log: String) throws {
        if !FileManager.default.fileExists(atPath: log) {
            _ = FileManager.default.createFile(atPath: log, contents: nil)
        }
        let output = try FileHandle(forWritingTo: URL(filePath: log))
        try output.seekToEnd()
        (process, lifeline) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.script, "matchday-child"] + command
        process.environment = environment.merging(["PATH": "/usr/sbin:/usr/bin:/bin"]) { own, _ in own }
        process.standardInput = lifeline
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    /// SIGKILL. Returns when it is gone.
    func kill() async {
        try? lifeline.fileHandleForWriting.close()
        await end()
    }

    /// SIGTERM. Returns when it has finished what it had to.
    func terminate() async {
        try? lifeline.fileHandleForWriting.write(contentsOf: Data("TERM\n".utf8))
        await end()
    }

    private func end() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.process.waitUntilExit()
                continuation.resume()
            }
        }
    }
}
