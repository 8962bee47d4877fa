internal import Foundation

/// The system's curl: a client that is not ours.
enum Curl {
    struct Output: Sendable {
        var exitCode: Int32
        /// Status line, header fields and body, as curl's `--include` writes them.
        var text: String
    }

    /// Whether there is a curl that speaks HTTP/2.
    static let speaksHTTP2: Bool = (try? run(["--version"]).text.contains("HTTP2")) ?? false

    static func run(_ arguments: [String]) throws -> Output {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["curl"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Output(exitCode: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
    }
}
