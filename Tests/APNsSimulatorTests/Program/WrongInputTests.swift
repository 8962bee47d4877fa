internal import Foundation
internal import HTTP2
internal import Testing

@testable internal import APNsSimulator

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Bytes that are not HTTP/2, TLS or JSON: the connection ends or the request is refused, and the next valid request is
/// answered.
@Suite(.timeLimit(.minutes(1)))
struct WrongInputTests {
    @Test func `bytes that are not TLS end the connection`() async throws {
        try await ControlStage.with { stage in
            var random = SeededRandom(seed: 1)
            var inputs = [
                Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8),
                Array("hello\n".utf8), [0x16, 0x03, 0x01, 0xFF, 0xFF] + Array(repeating: 0, count: 70_000),
            ]
            for _ in 0..<20 {
                inputs.append((0..<400).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            }
            let port = stage.running.addresses.developmentPort
            for input in inputs {
                #expect(RawSocket.endsAfter(input, port: port), "\(input.prefix(20)) was left open")
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

    @Test(arguments: [
        ("POST", "/faults", "{"), ("POST", "/faults", #"{"match": {}, "action": "explode"}"#),
        ("POST", "/faults", #"{"match": {"rate": 2}, "action": "silence"}"#), ("POST", "/devices", "[]"),
        ("POST", "/devices", #"{"id": 7}"#), ("PATCH", "/quirks", #"{"capitals": "sometimes"}"#),
        ("PATCH", "/clock", #"{"advance": "an hour"}"#), ("POST", "/devices/nobody/activities", "{}"),
        ("GET", "/journal?limit=many", ""), ("GET", "/nothing", ""),
    ])
    func `wrong control calls name the mistake and change nothing`(
        _ method: String, _ path: String, _ body: String
    ) async throws {
        try await ControlStage.with { stage in
            let answer = try await stage.call(method, path, body)
            #expect((400..<500).contains(answer.status), "\(answer)")
            #expect((answer.json["error"] as? String)?.isEmpty == false)
            #expect((try await stage.call("GET", "/faults").json["faults"] as? [Any])?.isEmpty ?? true)
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
            timeout: .seconds(10))
    }

    private static func isServed(_ stage: ControlStage) async throws {
        let client = try await stage.client()
        #expect(try await client.list().status == 200)
        await client.connection.close()
    }
}

/// A plain TCP socket, without TLS and HTTP/2.
private enum RawSocket {
    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    /// Writes the bytes and waits at most fifteen seconds until the other side closes the connection.
    static func endsAfter(_ bytes: [UInt8], port: Int) -> Bool {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return false }
        var limit = timeval(tv_sec: 15, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // The other side may have closed the connection before it read everything.
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, noSignal) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { continue }
            return count == 0 || errno == ECONNRESET
        }
    }
}
