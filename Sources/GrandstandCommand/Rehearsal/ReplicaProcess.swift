internal import Foundation
internal import GrandstandApp

/// `grandstand serve` as a process of its own, to be killed. It ends with this process, however that ends: a shell between
/// the two kills it as soon as the shell's standard input is closed.
final class ReplicaProcess: Sendable {
    let url: URL
    private let process: Process
    private let lifeline: Pipe
    private let ended: Task<Void, Never>

    /// The shell gives its own standard error away, so that the pipe ends with the server. It does not wait for its child:
    /// signals that Foundation leaves blocked would never tell it.
    private static let script = #"""
        trap '' HUP INT TERM
        "$@" &
        server=$!
        exec 2>/dev/null
        read -r line
        kill -KILL "$server"
        """#

    /// Starts a server; returns once it listens.
    ///
    /// - Throws: `StartError` with the last line it said when it ended instead.
    static func start(_ settings: [String: String]) async throws -> ReplicaProcess {
        guard let program = Bundle.main.executableURL else { throw StartError("this program's file is not known") }
        let (process, lifeline, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script, "grandstand-replica", program.path, "serve"]
        process.environment = settings.merging(
            ["GRANDSTAND_LOG_FORMAT": "json", "GRANDSTAND_LOG_LEVEL": "info", "GRANDSTAND_PORT": "0"]) { $1 }
        process.standardInput = lifeline
        process.standardOutput = FileHandle.nullDevice
        process.standardError = output
        let (texts, text) = AsyncStream<Data>.makeStream()
        let (endings, ending) = AsyncStream<Void>.makeStream()
        // Read to the end, so that the server never waits for a reader.
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
                text.finish()
                ending.finish()
            } else {
                text.yield(data)
            }
        }
        try process.run()
        let ended = Task { for await _ in endings {} }
        var said = ""
        for await data in texts {
            said += String(decoding: data, as: UTF8.self)
            guard let url = address(in: said) else { continue }
            return ReplicaProcess(url: url, process, lifeline, ended)
        }
        lifeline.fileHandleForWriting.closeFile()
        await ended.value
        try Task.checkCancellation()
        throw StartError("a second server did not start: \(said.split(separator: "\n").last ?? "it said nothing")")
    }

    private init(url: URL, _ process: Process, _ lifeline: Pipe, _ ended: Task<Void, Never>) {
        self.url = url
        self.process = process
        self.lifeline = lifeline
        self.ended = ended
    }

    /// As a power cut ends it: SIGKILL, nothing is finished. Waits for the end; safe to repeat.
    func kill() async {
        try? lifeline.fileHandleForWriting.close()
        await ended.value
    }

    private static func address(in log: String) -> URL? {
        for line in log.split(separator: "\n") {
            guard let entry = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                entry["message"] as? String == "listening", let url = entry["url"] as? String
            else { continue }
            return URL(string: url)
        }
        return nil
    }
}
