internal import HTTP2
internal import Testing

@testable internal import APNsClient

/// `HTTPS_PROXY` and `NO_PROXY` in the usual formats.
struct ProxySettingsTests {
    @Test func `host, port and credentials are read, and hosts in the exception list are reached without the proxy`()
        throws
    {
        let settings = try #require(
            ProxySettings(url: "http://user:p%40ss@proxy.example.com:3128/", exceptions: "localhost, .example.com"))
        let proxy = try #require(settings.proxy(for: "api.push.apple.com"))
        #expect(proxy.host == "proxy.example.com")
        #expect(proxy.port == 3_128)
        // The Base64 of `user:p@ss`.
        #expect(proxy.authorization == "Basic dXNlcjpwQHNz")
        #expect(!"\(proxy) \(String(reflecting: proxy))".contains("dXNl"))
        let hosts = ["localhost", "A.Example.com", "badexample.com"]
        #expect(hosts.map { settings.proxy(for: $0) == nil } == [true, true, false])
    }

    @Test(arguments: ["", "https://proxy:1", "socks5://proxy", "http://proxy:0", "http://a b", "http://%zz@proxy"])
    func `text that is not an HTTP proxy is refused`(url: String) {
        #expect(ProxySettings(url: url) == nil)
    }
}
