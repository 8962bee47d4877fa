internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// Requests that clients do not finish, or that are not valid HTTP.
@Suite(.timeLimit(.minutes(20)))
struct BrokenBodyTests {
    private static let overflow = String(repeating: "f", count: 40)
    private static let trailers = (0..<3_000).map { "X-\($0): 1\r\n" }.joined()

    @Test func `slow, lost and malformed requests are ended or refused with a reason, and cause no error`() async throws
    {
        try await Stage.with(settings: ["GRANDSTAND_CLIENT_TIMEOUT": "5"]) { stage in
            func send(_ texts: [String]) throws -> [Peer] {
                try texts.map { text in
                    let peer = try Peer(stage.url)
                    peer.send(text)
                    return peer
                }
            }
            let slow = try send([
                "", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
                "POST /v1/broadcasts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
            ])
            for lost in try send(Array(repeating: Self.head(stage, "Content-Length: 1000") + "{", count: 20)) {
                lost.hangUp()
            }
            try await until("all are counted") {
                try await MetricsTests.scrape(stage.api).contains(#"status="499"} 20"#)
            }
            let bodies = [
                "zz\r\n{}\r\n0\r\n\r\n", "\(Self.overflow)\r\n{}\r\n", "2\r\n{}\r\n0\r\n\(Self.trailers)\r\n",
            ]
            let chunked = try Self.head(stage, "Transfer-Encoding: chunked")
            for peer in try send(bodies.map { chunked + $0 }) {
                let answer = await peer.untilClosed()
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("The body cannot be read"))
            }
            let (long, form) = (String(repeating: "x", count: 40_000), "application/x-www-form-urlencoded")
            let refused = try send([
                "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: \(long)\r\n\r\n",
                "POST /console/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: \(form)\r\n"
                    + "Content-Length: 9223372036854775807\r\n\r\nkey=",
            ])
            #expect(await refused[0].untilClosed().hasPrefix("HTTP/1.1 4"))
            #expect(await refused[1].answer().hasPrefix("HTTP/1.1 503"))
            #expect(try await !MetricsTests.scrape(stage.api).contains(#"status="500""#))
            // If the header is complete, the server may answer before it waits in vain for the rest of the body.
            for peer in slow {
                let answer = await peer.untilClosed()
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 401"))
            }
        }
    }

    @Test func `a request for whose body there is no room gets 503 and Retry-After`() async throws {
        try await Stage.with { stage in
            // Each request declares a body of 4 MB and sends one byte of it: the server reserves the memory for a body
            // before it reads the body.
            let peers = try (0..<20).map { _ in try Peer(stage.url) }
            let head = try Self.head(stage, "Content-Length: 4000000", path: "/v1/broadcasts", method: "POST")
            for peer in peers { peer.send(head + "[") }
            let refused = try await until("one finds no room") {
                peers.lazy.compactMap { $0.takeNow() }.first { !$0.isEmpty }
            }
            #expect(refused.hasPrefix("HTTP/1.1 503 "))
            #expect(refused.lowercased().contains("retry-after: 1"))
            #expect(try await stage.caller([.operate])("GET", "/v1/quotas").status == 200)
        }
    }

    private static func head(
        _ stage: Stage, _ length: String, path: String = "/v1/events/derby", method: String = "PUT"
    ) throws -> String {
        let secret = try #require(stage.api.secret)
        return "\(method) \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(secret)\r\n"
            + "Content-Type: application/json\r\n\(length)\r\n\r\n"
    }
}
