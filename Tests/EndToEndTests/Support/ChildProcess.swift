internal import Foundation
internal import Synchronization

@testable internal import GrandstandCommand

/// A program in its own process. A shell runs between this process and the program, and kills the program when the
/// shell's standard input is closed. So the program ends when this object is released, and when this process ends in
/// any way.
final class ChildProcess: Sendable {
    private let process = Process()
    private let lifeline = Pipe()
    private let said: Said
    /// This stream ends when the server listens or the child has ended.
    private let listening: AsyncStream<Void>
    private let drained: Task<Void, Never>

    /// The output so far.
    private final class Said: Sendable {
        struct State {
            var text = ""
            var url = ""
        }

        let state = Mutex(State())
    }

    /// A line on standard input (`TERM`) makes the shell send SIGTERM to the child. The end of the input makes the
    /// shell kill the child and end. The shell closes its own standard error, so that the output pipe ends with the
    /// child. The shell does not use `wait`, because Foundation starts the shell with blocked signals, and the signals
    /// that report the child's end are among them.
    private static let script = #"""
        trap '' HUP INT TERM
        "$@" &
        child=$!
        exec >/dev/null 2>&1
        if read -r line; then
            kill -TERM "$child"
            while kill -0 "$child"; do sleep 0.1; done
        fi
        kill -KILL "$child"
        while kill -0 "$child"; do sleep 0.05; done
        """#

    /// Starts a program by its name or path.
    ///
    /// - Parameters:
    ///   - log: a file to which the output is appended.
    ///   - keepsLog: whether the property `log` gets all output. Otherwise it gets the output up to the line that has
    ///     the server's address.
    init(
        _ command: [String], _ environment: [String: String], log: String? = nil, keepsLog: Bool = false
    ) throws {
        let file = try log.map { path in
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(atPath: path, contents: nil)
            }
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.seekToEnd()
            return file
        }
        let (listening, listens) = AsyncStream.makeStream(of: Void.self)
        let (ending, ends) = AsyncStream.makeStream(of: Void.self)
        let (output, said) = (Pipe(), Said())
        self.said = said
        self.listening = listening
        drained = Task { for await _ in ending {} }
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.script, "grandstand-child"] + command
        process.environment = environment.merging(["PATH": "/usr/sbin:/usr/bin:/bin"]) { own, _ in own }
        process.standardInput = lifeline
        process.standardOutput = output
        process.standardError = output
        try process.run()
        // The output is read to the end, so that the child never waits for a reader. A thread reads it, because the pipe of
        // a `readabilityHandler` may be closed before libdispatch has forgotten it, which ends this process.
        let reading = output.fileHandleForReading
        DispatchQueue(label: "output of a child").async {
            var data: Data
            repeat {
                data = reading.availableData
                try? file?.write(contentsOf: data)
                let isKnown = said.state.withLock { state in
                    if keepsLog || state.url.isEmpty { state.text += String(decoding: data, as: UTF8.self) }
                    if state.url.isEmpty { state.url = Self.address(in: state.text) ?? "" }
                    return !state.url.isEmpty
                }
                if isKnown || data.isEmpty { listens.finish() }
            } while !data.isEmpty
            ends.finish()
        }
    }

    /// Starts a server, and returns when it listens.
    ///
    /// - Throws: `PlayFailure` with the last line of the server's output, if the server ended instead.
    static func server(
        _ command: [String], _ environment: [String: String], log: String? = nil, keepsLog: Bool = false
    ) async throws -> ChildProcess {
        let server = try ChildProcess(
            command, environment.merging(["GRANDSTAND_LOG_FORMAT": "json"]) { $1 }, log: log, keepsLog: keepsLog)
        for await _ in server.listening {}
        if !server.url.isEmpty { return server }
        await server.kill()
        try Task.checkCancellation()
        throw PlayFailure("a server did not start: \(server.log.split(separator: "\n").last ?? "it said nothing")")
    }

    /// The address of the server.
    var url: String { said.state.withLock { $0.url } }
    /// The program's output so far, if the program was started with `keepsLog`.
    var log: String { said.state.withLock { $0.text } }

    /// Ends the program with SIGKILL, like a power cut, and returns when it has ended. A second call is harmless.
    func kill() async {
        try? lifeline.fileHandleForWriting.close()
        await end()
    }

    /// Ends the program with SIGTERM. Returns when the program has ended and all its output was read.
    func terminate() async {
        try? lifeline.fileHandleForWriting.write(contentsOf: Data("TERM\n".utf8))
        await end()
        await drained.value
    }

    /// Waits for the end, on a thread outside Swift's pool: the child may need an answer from this process before it
    /// can end.
    private func end() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.process.waitUntilExit()
                continuation.resume()
            }
        }
    }

    private static func address(in log: String) -> String? {
        for line in log.split(separator: "\n") {
            guard let entry = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                entry["message"] as? String == "listening", let url = entry["url"] as? String
            else { continue }
            return url
        }
        return nil
    }
}
