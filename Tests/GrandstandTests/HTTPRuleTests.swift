internal import FoundationEssentials
internal import Testing

@testable internal import Grandstand

struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_795_305_600, "Sun, 22 Nov 2026 00:00:00 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ])
    func `a time is written in the form of RFC 9110 and read as the same`(_ second: Int, _ text: String) {
        #expect(HTTPDate.text(second) == text)
        #expect(HTTPDate.parse(text) == Date(timeIntervalSince1970: Double(second)))
    }

    @Test(arguments: [
        "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:00:00 GMT",
    ])
    func `other text is not a date`(text: String) { #expect(HTTPDate.parse(text) == nil) }
}

/// Token buckets with a clock that the test controls.
struct RateLimitTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let policy = RateLimit.Policy(rate: 2, burst: 4)

    @Test func `a full bucket accepts its burst, and then says when to retry`() {
        var limit = RateLimit(policy, at: start)
        let standings = (0..<5).map { _ in limit.take(policy, at: start) }
        #expect(standings.map(\.remaining) == [3, 2, 1, 0, 0])
        #expect(standings.map(\.isRefused) == [false, false, false, false, true])
        #expect(standings.allSatisfy { $0.limit == 4 } && standings[4].reset == 1)
    }

    @Test func `a request is accepted after the reported time to retry`() {
        let slow = RateLimit.Policy(rate: 0.1, burst: 1)
        var limit = RateLimit(slow, at: start)
        let standings = [0, 0, 9.9, 10].map { limit.take(slow, at: start + $0) }
        #expect(standings.map(\.isRefused) == [false, true, true, false])
        #expect(standings[1].reset == 10)
    }

    @Test func `a bucket never has more than its burst, and gains nothing from a clock that goes back`() {
        var limit = RateLimit(policy, at: start)
        let remaining = [1_000, 0, 0].map { limit.take(policy, at: start + $0).remaining }
        #expect(remaining == [3, 2, 1])
        let asked = [0, 0, 5].map { limit.take(policy, at: start + $0, 0).remaining }
        #expect(asked == [1, 1, 4])
    }
}

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
