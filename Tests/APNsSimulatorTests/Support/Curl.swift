internal import Foundation
internal import GrandstandTestKit

/// The system's curl, as another HTTP/2 client.
enum Curl {
    private static let path = URL(filePath: "/usr/bin/env")

    /// Whether this machine has a curl with HTTP/2.
    static let speaksHTTP2: Bool =
        (try? Program.wait(for: path, ["curl", "--version"]).text.contains("HTTP2")) ?? false

    /// The status line, header fields and body in curl's `--include` format.
    static func run(_ arguments: [String]) async throws -> Program.Output {
        try await Program.run(path, ["curl"] + arguments)
    }
}
