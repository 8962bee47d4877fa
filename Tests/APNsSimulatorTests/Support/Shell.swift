internal import Dispatch
internal import Foundation

/// `sh`, for what the manual tells people to type.
enum Shell {
    struct Output: Sendable {
        var exitCode: Int32
        /// Standard output and standard error, as they came.
        var text: String
    }

    /// Runs a script. No thread of Swift's pool waits for it: what it calls may need them all.
    static func run(_ script: String) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try wait(for: script) }) }
        }
    }

    /// Whether a short command ends well; for conditions of tests.
    static func succeeds(_ command: String) -> Bool { (try? wait(for: command))?.exitCode == 0 }

    private static func wait(for script: String) throws -> Output {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Output(exitCode: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
    }
}
