internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Clients that are too slow, a header that is too long, and the operations port.
@Suite(.timeLimit(.minutes(20)))
struct ConnectionTests {
    @Test func `a client that stops in the middle of a request is disconnected`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_CLIENT_TIMEOUT": "0.2"]) { stage in
            for sent in [
                "", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
                "POST /v1/broadcasts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
            ] {
                let peer = try Peer(stage.url)
                peer.send(sent)
                // If the header is complete, the server may answer before it waits in vain for the rest of the body.
                let answer = await peer.untilClosed()
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 401"))
            }
            #expect(try await stage.api("GET", "/v1/apps").status == 200)
        }
    }

    @Test func `a header beyond its limit is refused`() async throws {
        try await Stage.with { stage in
            let peer = try Peer(stage.url)
            peer.send("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: \(String(repeating: "x", count: 40_000))\r\n\r\n")
            let answer = await peer.untilClosed()
            #expect(answer.hasPrefix("HTTP/1.1 4"))
        }
    }

    @Test func `metrics and probes are only on the operations port if one is configured`() async throws {
        try await Stage.place(settings: ["GRANDSTAND_OPERATIONS_PORT": "0"]) { environment, _ in
            let process = try await ServerProcess.start(environment, keepsLog: true)
            let url = try await until("the operations' address") {
                process.log.split(separator: "\n").compactMap { line in
                    let entry = try? JSONDecoder().decode(JSON.self, from: Data(line.utf8))
                    return entry?["message"]?.string == "operations" ? entry?["url"]?.string : nil
                }.first
            }
            let operations = HTTPCaller(url: url, secret: nil)
            let api = HTTPCaller(url: process.url, secret: nil)
            for path in ["/metrics", "/healthz", "/readyz"] {
                let (there, here) = (try await operations("GET", path), try await api("GET", path))
                #expect(there.status == 200)
                #expect(here.status == 404)
            }
            let contract = try await api("GET", "/openapi.yaml")
            #expect(contract.status == 200)
            let apps = try await operations("GET", "/v1/apps")
            #expect(apps.status == 404)
            await process.terminate()
        }
    }
}
