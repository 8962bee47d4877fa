internal import Foundation
import Testing

@testable import HTTP2

/// The server with another HTTP/2 client.
@Suite(
    .enabled(if: Tool.isInstalled("h2load"), "h2load (Debian: nghttp2-client) is not installed"),
    .timeLimit(.minutes(20)))
struct H2loadTests {
    @Test func `four connections with a hundred streams each are answered`() async throws {
        let tool = try #require(Tool("h2load"))
        let folder = try Tool.folder(TestAuthority.shared.local)
        defer { try? FileManager.default.removeItem(at: folder) }
        let body = folder.appending(path: "body").path
        try Data(repeating: 120, count: 600).write(to: URL(fileURLWithPath: body))
        let bodies = Ledger()
        let handler = TestHandler(answering: { request, stream in
            bodies.add("\(request.body.count)")
            stream.respond(status: 200, headers: [], body: request.body)
            return true
        })
        try await withServer(handler) { server in
            let said = try await tool.output([
                "--requests", "5000", "--clients", "4", "--max-concurrent-streams", "100", "--data", body,
                "https://127.0.0.1:\(server.port)/",
            ])
            #expect(said.contains("5000 succeeded, 0 failed, 0 errored"), "\(said)")
            #expect(bodies.all == ["600": 5_000])
        }
    }
}
