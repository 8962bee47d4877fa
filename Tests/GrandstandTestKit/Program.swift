package import Foundation

/// Runs a program as a separate process.
package enum Program {
    package struct Output: Sendable {
        package var exitCode: Int32
        /// Standard output and standard error, in the order they came.
        package var text: String
    }

    /// Runs the program to its end. A serial queue has a thread of its own to wait for it. On Linux, the global queue
    /// shares its threads with Swift's tasks, and gets another one only once a second.
    ///
    /// - Parameter environment: the variables of the program; `nil`: the environment of this process.
    /// - Throws: if the program cannot be started.
    package static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String]? = nil
    ) async throws -> Output {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "grandstand.program").async {
                continuation.resume(
                    with: Result {
                        let (process, pipe) = (Process(), Pipe())
                        (process.executableURL, process.arguments) = (executable, arguments)
                        if let environment { process.environment = environment }
                        (process.standardOutput, process.standardError) = (pipe, pipe)
                        try process.run()
                        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
                        process.waitUntilExit()
                        return Output(
                            exitCode: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
                    })
            }
        }
    }
}

/// A folder that is gone with the test.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let place = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        path = place.appendingPathComponent("gs-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    package func text(_ name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }

    package func write(_ text: String, to name: String) throws {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
    }
}
