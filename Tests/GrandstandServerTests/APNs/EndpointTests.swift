internal import Testing

@testable internal import GrandstandServer

struct EndpointTests {
    @Test(arguments: [
        ("https://api.push.apple.com/", "api.push.apple.com", 443, "api.push.apple.com"),
        ("https://api-manage.example:2196", "api-manage.example", 2196, "api-manage.example:2196"),
        ("https://[::1]:8443", "::1", 8443, "[::1]:8443"),
    ])
    func `a base URL is a host with a port`(_ url: String, host: String, port: Int, authority: String) throws {
        let endpoint = try #require(Endpoint(url: url))
        #expect(endpoint.host == host && endpoint.port == port && endpoint.authority == authority)
    }

    @Test(arguments: ["", "http://api.push.apple.com", "https://host/path", "https://host//", "https://host?a=b"])
    func `other text is not an endpoint`(_ url: String) {
        #expect(Endpoint(url: url) == nil)
    }
}
