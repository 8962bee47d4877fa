internal import HTTP2
internal import Testing

@testable internal import APNsClient

/// `HTTPS_PROXY` and `NO_PROXY` in the usual formats.
struct ProxySettingsTests {
    @Test func `host, port and credentials are read`() throws {
        let settings = try #require(ProxySettings(url: "http://user:p%40ss@proxy.example.com:3128/"))
        let proxy = try #require(settings.proxy(for: "api.push.apple.com"))
        #expect(proxy.host == "proxy.example.com")
        #expect(proxy.port == 3_128)
        // The Base64 of `user:p@ss`.
        #expect(proxy.authorization == "Basic dXNlcjpwQHNz")
        #expect(!"\(proxy) \(String(reflecting: proxy))".contains("dXNl"))
    }

    @Test func `scheme and port may be missing`() throws {
        for url in ["proxy", "http://proxy", "HTTP://proxy/", "proxy:8080"] {
            let proxy = try #require(ProxySettings(url: url)?.proxy(for: "a"), "\(url)")
            #expect(proxy == HTTP2Proxy(host: "proxy", port: 8_080))
        }
        #expect(ProxySettings(url: "http://[::1]:99")?.proxy(for: "a") == HTTP2Proxy(host: "::1", port: 99))
    }

    @Test(arguments: ["", "https://proxy:1", "socks5://proxy", "http://proxy:0", "http://a b", "http://%zz@proxy"])
    func `text that is not an HTTP proxy is refused`(url: String) {
        #expect(ProxySettings(url: url) == nil)
    }

    @Test func `hosts in the proxy's exception list and their subdomains are reached without the proxy`() throws {
        let settings = try #require(ProxySettings(url: "proxy", exceptions: "localhost, .example.com,*.internal"))
        for host in ["localhost", "example.com", "A.Example.com", "x.internal"] {
            #expect(settings.proxy(for: host) == nil, "\(host)")
        }
        for host in ["badexample.com", "api.push.apple.com"] {
            #expect(settings.proxy(for: host) != nil, "\(host)")
        }
        #expect(ProxySettings(url: "proxy", exceptions: "*")?.proxy(for: "anything") == nil)
        #expect(ProxySettings().proxy(for: "anything") == nil)
    }
}
