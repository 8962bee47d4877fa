internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// Token buckets, at times the test says.
struct RateLimitTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let policy = RateLimit.Policy(rate: 2, burst: 4)

    @Test func `a full bucket lets the burst through and then says when to come again`() {
        var limit = RateLimit(policy, at: start)
        for remaining in [3, 2, 1, 0] {
            let standing = limit.take(policy, at: start)
            #expect(!standing.isExhausted)
            #expect(standing.remaining == remaining)
            #expect(standing.limit == 4)
        }
        let refused = limit.take(policy, at: start)
        #expect(refused.isExhausted)
        #expect(refused.remaining == 0)
        #expect(refused.reset == 1)
    }

    @Test func `after the time it said, a request is let through`() {
        let slow = RateLimit.Policy(rate: 0.1, burst: 1)
        var limit = RateLimit(slow, at: start)
        let standings = [0, 0, 9.9, 10].map { limit.take(slow, at: start + $0) }
        #expect(standings.map(\.isExhausted) == [false, true, true, false])
        #expect(standings[1].reset == 10)
    }

    @Test func `it never holds more than the burst, and a clock that goes back gives nothing`() {
        var limit = RateLimit(policy, at: start)
        let remaining = [1_000, 0, 0].map { limit.take(policy, at: start + $0).remaining }
        #expect(remaining == [3, 2, 1])
        let isFull = [0, 5].map { limit.isFull(policy, at: start + $0) }
        #expect(isFull == [false, true])
    }

    @Test(arguments: ["a", "8f0c-1d2e", "trace/1:2@x+y=.z_", String(repeating: "x", count: 128)])
    func `a request may be named`(text: String) { #expect(RequestID(rawValue: text)?.rawValue == text) }

    @Test(arguments: ["", "a b", "a\nb", "ä", "a\"b", "<x>", String(repeating: "x", count: 129)])
    func `what would spoil a log names no request`(text: String) { #expect(RequestID(rawValue: text) == nil) }
}
