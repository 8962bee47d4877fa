internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import Testing

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Connections that take too long, and certificates that change, from outside.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionTests {
    /// A raw TCP connection.
    private final class Peer {
        let descriptor: Int32

        init(_ url: String) throws {
            let port = try #require(URL(string: url)?.port)
            #if canImport(Glibc)
                descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(result == 0)
        }

        func send(_ text: String) {
            let bytes = Array(text.utf8)
            _ = write(descriptor, bytes, bytes.count)
        }

        /// Everything until the server closes.
        func untilClosed() async -> String {
            let descriptor = descriptor
            return await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    var text: [UInt8] = []
                    var buffer = [UInt8](repeating: 0, count: 4_096)
                    while true {
                        let count = recv(descriptor, &buffer, buffer.count, 0)
                        guard count > 0 else { break }
                        text += buffer.prefix(count)
                    }
                    continuation.resume(returning: String(decoding: text, as: UTF8.self))
                }
            }
        }

        deinit { close(descriptor) }
    }

    @Test(arguments: [
        "", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        "POST /v1/broadcasts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    ])
    func `who stops in the middle is dropped`(sent: String) async throws {
        try await Stage.with(settings: ["GRANDSTAND_CLIENT_TIMEOUT": "0.2"]) { stage in
            let peer = try Peer(stage.url)
            peer.send(sent)
            // A request whose header is whole may have its answer, before the rest of its body is waited for in vain.
            let answer = await peer.untilClosed()
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 401"))
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

    @Test func `the operations have a port of their own when they are told to`() async throws {
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
            process.terminate()
        }
    }
}
