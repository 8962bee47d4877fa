internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// Request bodies that clients do not finish, or that are not valid HTTP.
@Suite(.timeLimit(.minutes(20)))
struct BrokenBodyTests {
    private static let overflow = String(repeating: "f", count: 40)
    private static let trailers = (0..<3_000).map { "X-\($0): 1\r\n" }.joined()

    @Test func `a malformed chunked body gets 400 with a readable reason`() async throws {
        try await Stage.with { stage in
            for body in ["zz\r\n{}\r\n0\r\n\r\n", "\(Self.overflow)\r\n{}\r\n", "2\r\n{}\r\n0\r\n\(Self.trailers)\r\n"]
            {
                let peer = try Peer(stage.url)
                peer.send(try Self.head(stage, "Transfer-Encoding: chunked") + body)
                let answer = await peer.untilClosed()
                #expect(answer.hasPrefix("HTTP/1.1 400 "))
                #expect(answer.contains("The body cannot be read"))
            }
            #expect(try await stage.api("GET", "/healthz").status == 200)
            #expect(try await Self.requests(stage, "500") == 0)
        }
    }

    @Test func `a client that disconnects in mid-body counts as 499 and causes no error`() async throws {
        try await Stage.place(settings: ["GRANDSTAND_LOG_LEVEL": "info"]) { environment, _ in
            let secret = try await Stage.secret(environment)
            let process = try await ServerProcess.start(environment, keepsLog: true)
            let api = HTTPCaller(url: process.url, secret: secret)
            for _ in 0..<20 {
                let peer = try Peer(process.url)
                peer.send(
                    "PUT /v1/events/derby HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(secret)\r\n"
                        + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
                peer.hangUp()
            }
            let form = try Peer(process.url)
            form.send(
                "POST /console/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                    + "Content-Length: 9223372036854775807\r\n\r\nkey=")
            let refused = await form.answer()
            #expect(refused.hasPrefix("HTTP/1.1 503"))
            _ = try await until("all are counted") {
                let text = try await api("GET", "/metrics").text
                return text.contains(#"status="499"} 20"#) ? true : nil
            }
            #expect(try await api("GET", "/metrics").text.contains(#"status="500""#) == false)
            await process.terminate()
            #expect(!process.log.contains("a request failed"))
            // On a busy machine, the log may say that the database answered late. That is not an error here.
            let errors = process.log.split(separator: "\n").filter {
                $0.contains(#""level":"error""#) && !$0.contains(#""trouble":"unreachable""#)
            }
            #expect(errors == [])
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
                for peer in peers {
                    if let answer = peer.takeNow(), !answer.isEmpty { return answer }
                }
                return nil
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

    private static func requests(_ stage: Stage, _ status: String) async throws -> Int {
        try await stage.api("GET", "/metrics").text.split(separator: "\n").count {
            $0.contains(#"status="\#(status)""#)
        }
    }
}
