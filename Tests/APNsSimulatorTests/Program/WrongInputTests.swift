internal import Foundation
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

@testable internal import APNsSimulator

/// Bytes that are not HTTP/2, TLS or JSON: the connection ends or the request is refused, and the next valid request is
/// answered.
@Suite(.timeLimit(.minutes(20)))
struct WrongInputTests {
    @Test(.enabled(if: Shell.succeeds("bash -c true && timeout 9 true"), "needs bash and timeout"))
    func `bytes that are not TLS end the connection`() async throws {
        try await ControlStage.with { stage in
            var random = SeededRandom(seed: 1)
            var inputs = [
                Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8),
                Array("hello\n".utf8), [0x16, 0x03, 0x01, 0xFF, 0xFF] + Array(repeating: 0, count: 70_000),
            ]
            for _ in 0..<20 {
                inputs.append((0..<400).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            }
            let folder = try TemporaryFolder()
            let port = stage.running.addresses.developmentPort
            // The simulator may close the connection before it has read everything. `timeout` ends with 124.
            let script = """
                exec 3<>/dev/tcp/127.0.0.1/\(port) || exit 9
                cat '\(folder.file("input"))' >&3 2>/dev/null
                timeout 120 cat <&3 >/dev/null 2>&1; [ $? != 124 ]
                """
            for input in inputs {
                try Data(input).write(to: URL(filePath: folder.file("input")))
                let output = try await Program.run(URL(filePath: "/usr/bin/env"), ["bash", "-c", script])
                #expect(output.exitCode == 0, "\(input.prefix(20)) was left open: \(output.text)")
            }
            try await Self.isServed(stage)
        }
    }

    @Test func `bodies that are not JSON or never end are refused, even with a valid token`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let channel = try #require(try await client.create(policy: 0)[header: "apns-channel-id"])
            let deep = String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000)
            let bodies: [[UInt8]] = [
                [0xFF, 0xFE, 0x7B, 0x7D], Array(Bench.update.utf8) + [0x00], [0xC0, 0x80], Array("{\"aps\":".utf8),
                Array(#"{"aps":{"timestamp":1,"event":"update","content-state":{"x":\#(deep)}}}"#.utf8),
            ]
            for body in bodies {
                let answer = try await Self.broadcast(body, on: channel, by: client)
                #expect(answer.status == 400, "\(String(decoding: body.prefix(40), as: UTF8.self)): \(answer.text)")
            }
            let large = try await Self.broadcast(Array(repeating: 0x20, count: 25_000), on: channel, by: client)
            #expect(large.status == 413)
            // The simulator reads at most 1 MiB of a body. Then it resets the stream.
            await #expect(throws: HTTP2Failure.self) {
                try await Self.broadcast(Array(repeating: 0x20, count: 3_000_000), on: channel, by: client)
            }
            try await Self.isServed(stage)
        }
    }

    @Test func `headers that are too large are refused`() async throws {
        try await ControlStage.with { stage in
            let client = try await stage.client()
            let answer = try? await client.send(
                "GET", "/1/apps/\(Bench.bundleID)/all-channels", ["x-long": String(repeating: "x", count: 60_000)])
            #expect(answer.map { $0.status >= 400 } ?? true)
            try await Self.isServed(stage)
        }
    }

    private static func broadcast(_ body: [UInt8], on channel: String, by client: Client) async throws -> HTTP2Response
    {
        let headers = [
            "authorization": "bearer \(client.token ?? "")", "apns-channel-id": channel,
            "apns-push-type": "liveactivity", "apns-expiration": "0", "apns-priority": "10",
        ]
        return try await client.connection.send(
            HTTP2Request(
                method: "POST", path: "/4/broadcasts/apps/\(Bench.bundleID)", authority: "localhost",
                headers: headers.map { HTTP2Header($0.key, $0.value) }, body: body),
            timeout: .seconds(120))
    }

    private static func isServed(_ stage: ControlStage) async throws {
        let client = try await stage.client()
        #expect(try await client.list().status == 200)
        await client.connection.close()
    }
}
