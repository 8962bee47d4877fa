internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// Token buckets with a clock that the test controls.
struct RateLimitTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let policy = RateLimit.Policy(rate: 2, burst: 4)

    @Test func `a full bucket accepts its burst, and then says when to retry`() {
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

    @Test func `a request is accepted after the reported time to retry`() {
        let slow = RateLimit.Policy(rate: 0.1, burst: 1)
        var limit = RateLimit(slow, at: start)
        let standings = [0, 0, 9.9, 10].map { limit.take(slow, at: start + $0) }
        #expect(standings.map(\.isExhausted) == [false, true, true, false])
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
