import NIOConcurrencyHelpers
import Testing

@testable import HTTP2

/// Connections through an HTTP proxy with CONNECT. TLS ends at the server, not at the proxy.
@Suite(.timeLimit(.minutes(20))) struct ProxyTests {
    private func failure(_ settings: HTTP2ClientConfiguration) async -> HTTP2ConnectError? {
        do throws(HTTP2ConnectError) {
            let connection = try await HTTP2ClientConnection.connect(settings, logger: quiet)
            await connection.close()
            return nil
        } catch {
            return error
        }
    }

    @Test func `requests go through the proxy, and the certificate is the server's`() async throws {
        let proxy = try await ProxyServer.start()
        try await withServer(.echo) { server in
            var way = proxy.proxy
            way.authorization = "Basic eDp5"
            try await withConnection(server.port, { $0.proxy = way }) { connection in
                for _ in 0..<3 { #expect(await connection.outcome(post()).status == 200) }
            }
            let header = proxy.requests.withLockedValue { $0 }
            #expect(header.count == 1)
            #expect(
                header[0].hasPrefix("CONNECT 127.0.0.1:\(server.port) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
            #expect(header[0].contains("Proxy-Authorization: Basic eDp5\r\n"))
        }
        try await withServer(.echo, identity: TestAuthority.shared.elsewhere) { server in
            var settings = configuration(server.port)
            settings.proxy = proxy.proxy
            let error = try #require(await failure(settings))
            #expect(error.kind == .tls)
        }
        await proxy.stop()
    }

    @Test(arguments: [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "user and password"),
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "allows CONNECT"), ("SSH-2.0-OpenSSH\r\n", "as an HTTP proxy"),
    ])
    func `the error of a refusing proxy names it`(answer: String, advice: String) async throws {
        let proxy = try await ProxyServer.start(answer: answer)
        var settings = configuration(443)
        settings.proxy = proxy.proxy
        let error = try #require(await failure(settings))
        #expect(error.kind == .proxy)
        #expect(error.message.contains(advice), "\(error)")
        #expect(error.message.contains("\(proxy.proxy)"))
        await proxy.stop()
    }

    @Test func `a proxy that does not answer times out`() async throws {
        let proxy = try await ProxyServer.start(answer: nil)
        var settings = configuration(443)
        settings.proxy = proxy.proxy
        settings.connectTimeout = .milliseconds(200)
        let error = try #require(await failure(settings))
        #expect(error.kind == .proxy)
        #expect(error.message.contains("did not answer CONNECT"), "\(error)")
        await proxy.stop()
    }

    @Test func `the error of a missing proxy names it`() async throws {
        let proxy = try await ProxyServer.start()
        await proxy.stop()
        var settings = configuration(443)
        settings.proxy = proxy.proxy
        let error = try #require(await failure(settings))
        #expect(error.kind == .connect)
        #expect(error.message.contains("the proxy 127.0.0.1"), "\(error)")
    }
}
