internal import Testing

@testable internal import Grandstand

/// Which forwarded addresses are trusted.
struct TrustedProxiesTests {
    private let proxies = TrustedProxies(["10.0.0.0/8", "fd00::1"].compactMap(IPNetwork.init))

    private func caller(_ peer: String, _ forwardedFor: String...) throws -> String {
        try #require(IPAddress(peer).map { proxies.caller(of: $0, forwardedFor: forwardedFor).callersNetwork })
    }

    @Test func `a forwarded address from an unknown caller is ignored`() throws {
        #expect(try caller("198.51.100.1", "203.0.113.9") == "198.51.100.1")
    }

    @Test func `a forwarded address from a trusted proxy is used, back to the first address that is not a proxy`()
        throws
    {
        #expect(try caller("10.0.0.1", "203.0.113.9") == "203.0.113.9")
        #expect(try caller("10.0.0.1", "192.0.2.1, 203.0.113.9, 10.0.0.2") == "203.0.113.9")
        #expect(try caller("10.0.0.1", "192.0.2.1", "203.0.113.9") == "203.0.113.9")
        #expect(try caller("::ffff:10.0.0.1", "203.0.113.9:4711") == "203.0.113.9")
        #expect(try caller("fd00::1", "[2001:db8:1:2:3::4]:4711") == "2001:db8:1:2")
    }

    @Test func `text that is not an address ends the search`() throws {
        #expect(try caller("10.0.0.1", "unknown") == "10.0.0.1")
        #expect(try caller("10.0.0.1", "203.0.113.9, unknown, 10.0.0.2") == "10.0.0.2")
        #expect(try caller("10.0.0.1") == "10.0.0.1")
    }
}
