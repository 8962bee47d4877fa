internal import Testing

@testable internal import GrandstandServer

struct EndpointTests {
    @Test(arguments: [
        ("https://api.push.apple.com", "api.push.apple.com", 443, "api.push.apple.com"),
        ("https://api.push.apple.com:443", "api.push.apple.com", 443, "api.push.apple.com"),
        ("https://api.push.apple.com/", "api.push.apple.com", 443, "api.push.apple.com"),
        (
            "https://api-manage-broadcast.push.apple.com:2196", "api-manage-broadcast.push.apple.com", 2196,
            "api-manage-broadcast.push.apple.com:2196"
        ),
        ("https://127.0.0.1:8443/", "127.0.0.1", 8443, "127.0.0.1:8443"),
        ("https://[::1]:8443", "::1", 8443, "[::1]:8443"),
        ("https://[::1]", "::1", 443, "[::1]"),
        ("https://localhost:1", "localhost", 1, "localhost:1"),
        ("https://localhost:65535", "localhost", 65_535, "localhost:65535"),
    ])
    func `a base URL is a host with a port`(_ url: String, host: String, port: Int, authority: String) throws {
        let endpoint = try #require(Endpoint(url: url))
        #expect(endpoint.host == host)
        #expect(endpoint.port == port)
        #expect(endpoint.authority == authority)
    }

    @Test(arguments: [
        "", "https://", "https:///", "http://api.push.apple.com", "api.push.apple.com:443", "https://host:",
        "https://host:0",
        "https://host:65536", "https://host:x", "https://host:-1", "https://host:+1", "https://:443",
        "https://host/path", "https://host//",
        "https://user@host", "https://host:1:2", "https://[::1", "https://[]", "https://[::1]x", "https://::1",
        "https://host name", "https://host?a=b", "https://host#a", " https://host",
    ])
    func `other text is not an endpoint`(_ url: String) {
        #expect(Endpoint(url: url) == nil)
    }
}
