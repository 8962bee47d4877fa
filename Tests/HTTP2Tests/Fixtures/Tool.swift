internal import Foundation

/// A system program, for tests with other HTTP/2 implementations.
struct Tool: Sendable {
    let path: String

    /// Finds the program with this name; `nil`: the program is not installed.
    init?(_ name: String) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let found = (folders + ["/usr/sbin", "/usr/bin"]).map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found else { return nil }
        path = found
    }

    static func isInstalled(_ name: String) -> Bool { Tool(name) != nil }

    /// Runs the program until it ends, and returns its output.
    func output(_ arguments: [String]) async throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        let reading = pipe.fileHandleForReading
        try process.run()
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let data = reading.readDataToEndOfFile()
                continuation.resume(returning: String(decoding: data, as: UTF8.self))
            }
        }
    }

    /// Runs the program during `body`. `body` begins when the program has printed `sign`.
    func whileRunning<Result: Sendable>(
        _ arguments: [String], readyAt sign: String, _ body: () async throws -> Result
    ) async throws -> Result {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        let (lines, line) = AsyncStream<String>.makeStream()
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { line.finish() } else { line.yield(String(decoding: data, as: UTF8.self)) }
        }
        try process.run()
        defer {
            pipe.fileHandleForReading.readabilityHandler = nil
            // The program may have SIGTERM blocked, because a child inherits the blocked signals of the thread that
            // started it. So the test sends SIGKILL.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        var said = ""
        for await text in lines {
            said += text
            guard said.contains(sign) else { continue }
            // Further output of the program is read and dropped, so that the program never blocks on a full pipe.
            line.finish()
            return try await body()
        }
        throw NotReady(said: said)
    }

    /// The program ended before it was ready.
    struct NotReady: Error {
        var said: String
    }

    /// A folder with `cert.pem` and `key.pem` of an identity, and a small `index.html`.
    static func folder(_ identity: TestAuthority.Identity) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "http2-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(identity.chainPEM).write(to: folder.appending(path: "cert.pem"))
        try Data(identity.keyPEM).write(to: folder.appending(path: "key.pem"))
        try Data("hello from elsewhere".utf8).write(to: folder.appending(path: "index.html"))
        return folder
    }
}
