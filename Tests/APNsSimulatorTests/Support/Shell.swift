internal import Foundation
internal import GrandstandTestKit

/// Runs shell scripts: the commands that the documentation shows.
enum Shell {
    private static let path = URL(filePath: "/bin/sh")

    /// Whether this machine has what the recipes need.
    static let hasTools = succeeds("curl --version | grep -q HTTP2 && command -v openssl && command -v xxd")

    static func run(_ script: String) async throws -> Program.Output { try await Program.run(path, ["-c", script]) }

    /// Whether a short command succeeds; for conditions of tests.
    static func succeeds(_ command: String) -> Bool {
        (try? Program.wait(for: path, ["-c", command]))?.exitCode == 0
    }
}
