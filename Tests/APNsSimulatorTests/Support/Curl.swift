internal import Foundation
internal import GrandstandTestKit

/// The system's curl: a client that is not ours.
enum Curl {
    private static let path = URL(filePath: "/usr/bin/env")

    /// Whether there is a curl that speaks HTTP/2.
    static let speaksHTTP2: Bool =
        (try? Program.wait(for: path, ["curl", "--version"]).text.contains("HTTP2")) ?? false

    /// Status line, header fields and body, as curl's `--include` writes them.
    static func run(_ arguments: [String]) async throws -> Program.Output {
        try await Program.run(path, ["curl"] + arguments)
    }
}
