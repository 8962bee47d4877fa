internal import Testing

@testable internal import Grandstand

/// Whose word about a caller's address is believed.
struct TrustedProxiesTests {
    private let proxies = TrustedProxies(["10.0.0.0/8", "fd00::1"].compactMap(IPNetwork.init))

    private func caller(_ peer: String, _ forwardedFor: String...) throws -> String {
        try #require(IPAddress(peer).map { proxies.caller(of: $0, forwardedFor: forwardedFor).callersNetwork })
    }

    @Test func `a stranger's word about its address is not believed`() throws {
        #expect(try caller("198.51.100.1", "203.0.113.9") == "198.51.100.1")
    }

    @Test func `a proxy's word is believed, as far as proxies go`() throws {
        #expect(try caller("10.0.0.1", "203.0.113.9") == "203.0.113.9")
        #expect(try caller("10.0.0.1", "192.0.2.1, 203.0.113.9, 10.0.0.2") == "203.0.113.9")
        #expect(try caller("10.0.0.1", "192.0.2.1", "203.0.113.9") == "203.0.113.9")
        #expect(try caller("::ffff:10.0.0.1", "203.0.113.9:4711") == "203.0.113.9")
        #expect(try caller("fd00::1", "[2001:db8:1:2:3::4]:4711") == "2001:db8:1:2")
    }

    @Test func `what is no address ends the way back`() throws {
        #expect(try caller("10.0.0.1", "unknown") == "10.0.0.1")
        #expect(try caller("10.0.0.1", "203.0.113.9, unknown, 10.0.0.2") == "10.0.0.2")
        #expect(try caller("10.0.0.1") == "10.0.0.1")
    }
}
