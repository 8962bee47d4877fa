internal import Foundation
internal import GrandstandTestKit
internal import Synchronization
internal import Testing

/// `grandstand serve` as a process of its own, to be killed in mid-flight.
final class ServerProcess: Sendable {
    /// The API's base URL.
    let url: String
    private let process: Process
    private let output: Pipe
    private let said: Said

    /// What a process has written so far.
    private final class Said: Sendable {
        private let text = Mutex("")

        var current: String { text.withLock { $0 } }

        func add(_ more: String) { text.withLock { $0 += more } }
    }

    /// A program that was built with these tests.
    private static func program(_ name: String) -> URL { Bundle.main.bundleURL.appending(path: name) }

    private init(url: String, process: Process, output: Pipe, said: Said) {
        self.said = said
        self.url = url
        self.process = process
        self.output = output
    }

    /// Starts a server; returns once it listens.
    ///
    /// - Parameter wallLead: seconds by which the clock of its machine is ahead.
    /// - Throws: `NeverHappened` with what it said when it stopped instead.
    static func start(
        _ environment: [String: String], keepsLog: Bool = false, wallLead: Int = 0
    ) async throws -> ServerProcess {
        let (process, output, kept) = (Process(), Pipe(), Said())
        process.executableURL = program(wallLead == 0 ? "grandstand" : "SkewedServer")
        process.arguments = [wallLead == 0 ? "serve" : "\(wallLead)"]
        process.environment = environment.merging(["GRANDSTAND_LOG_FORMAT": "json"]) { $1 }
        process.standardOutput = output
        process.standardError = output
        let (texts, text) = AsyncStream<String>.makeStream()
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            // What it says later is read, and dropped unless it is wanted, so that it never blocks on a full pipe.
            if keepsLog { kept.add(String(decoding: data, as: UTF8.self)) }
            if data.isEmpty { text.finish() } else { text.yield(String(decoding: data, as: UTF8.self)) }
        }
        try process.run()
        var said = ""
        for await text in texts {
            said += text
            for line in said.split(separator: "\n") {
                guard let entry = try? JSONDecoder().decode(JSON.self, from: Data(line.utf8)),
                    entry["message"]?.string == "listening", let url = entry["url"]?.string
                else { continue }
                return ServerProcess(url: url, process: process, output: output, said: kept)
            }
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let end = "\(process.terminationReason == .exit ? "exit" : "signal") \(process.terminationStatus)"
        throw NeverHappened(what: "a server that listens; it ended with \(end) and said: \(said)")
    }

    /// As a power cut ends it: SIGKILL, nothing is finished.
    func kill9() {
        output.fileHandleForReading.readabilityHandler = nil
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Everything it has written, when it was started to keep that.
    var log: String { said.current }

    /// As SIGTERM ends it; returns when it has ended and all it wrote was read.
    func terminate() async {
        process.terminate()
        // Not on a thread of Swift's pool: what it has to finish first may need this process to answer.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.process.waitUntilExit()
                continuation.resume()
            }
        }
        output.fileHandleForReading.readabilityHandler = nil
        said.add(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self))
    }

    deinit { if process.isRunning { kill9() } }
}
