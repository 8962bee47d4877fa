internal import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import HTTP2

/// The client with another HTTP/2 server.
@Suite(
    .enabled(if: Tool.isInstalled("nghttpd"), "nghttpd (Debian: nghttp2-server) is not installed"),
    .timeLimit(.minutes(20)))
struct NghttpdTests {
    private func withNghttpd(
        _ options: [String] = [], _ body: (Int) async throws -> Void
    ) async throws {
        let tool = try #require(Tool("nghttpd"))
        let folder = try Tool.folder(TestAuthority.shared.local)
        defer { try? FileManager.default.removeItem(at: folder) }
        // A port that was free a moment ago. nghttpd cannot choose one itself.
        let probe = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = probe.localAddress?.port ?? 0
        try await probe.close()
        let arguments =
            options + [
                "--verbose", "--htdocs", folder.path, "--address", "127.0.0.1", "\(port)",
                folder.appending(path: "key.pem").path,
                folder.appending(path: "cert.pem").path,
            ]
        try await tool.whileRunning(arguments, readyAt: "listen 127.0.0.1:\(port)") { try await body(port) }
    }

    @Test func `requests to nghttpd are answered`() async throws {
        try await withNghttpd { port in
            try await withConnection(port) { connection in
                let answer = try await connection.send(
                    HTTP2Request(method: "GET", path: "/", authority: "localhost", headers: [], body: []),
                    timeout: .seconds(20))
                #expect(answer.status == 200)
                #expect(answer.body == Array("hello from elsewhere".utf8))
                let missing = try await connection.send(
                    HTTP2Request(method: "GET", path: "/missing", authority: "localhost", headers: [], body: []),
                    timeout: .seconds(20))
                #expect(missing.status == 404)
            }
        }
    }

    @Test func `two thousand posts on few streams and small windows are answered`() async throws {
        try await withNghttpd(["--max-concurrent-streams", "10"]) { port in
            try await withConnection(port) { connection in
                #expect(connection.state.streamLimit == 10)
                let answered = Ledger()
                try await flood(2_000, concurrency: 200) { request in
                    var request = request
                    request.path = "/"
                    request.body = [UInt8](repeating: 120, count: 600)
                    let response = try await connection.send(request, timeout: .seconds(50))
                    if response.status == 200 { answered.add("200") }
                }
                #expect(answered.all == ["200": 2_000])
            }
        }
    }
}
