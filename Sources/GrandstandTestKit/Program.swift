package import Foundation

/// A program, ours or another, as a process of its own.
package enum Program {
    package struct Output: Sendable {
        package var exitCode: Int32
        /// Standard output and standard error, as they came.
        package var text: String
    }

    /// Runs it to its end. No thread of Swift's pool waits for it: there are as many as processors, and what the
    /// program calls may need them all.
    ///
    /// - Parameter environment: `nil` is this process's.
    /// - Throws: when it cannot be started.
    package static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String]? = nil
    ) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try wait(for: executable, arguments, environment: environment) })
            }
        }
    }

    /// Runs it to its end on the thread that asks; for conditions of tests, which cannot wait otherwise.
    package static func wait(
        for executable: URL, _ arguments: [String], environment: [String: String]? = nil
    ) throws -> Output {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Output(exitCode: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
    }
}
