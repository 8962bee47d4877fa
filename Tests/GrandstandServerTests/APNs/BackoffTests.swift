internal import Testing

@testable internal import GrandstandServer

struct BackoffTests {
    @Test func `each pause is twice as long as the one before, up to the longest, and a success resets it`() {
        var backoff = Backoff()
        // With jitter 1, each pause has its full length. In production the jitter is a random number below 1.
        let pauses = (0..<1_000).map { _ in backoff.failed(jitter: 1) }
        #expect(pauses.prefix(4) == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(pauses.last == .seconds(15))
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        backoff.succeeded()
        let shortened = [0, 0.5].map { backoff.failed(jitter: $0) }
        #expect(shortened == [.milliseconds(50), .milliseconds(150)])
    }

    @Test func `after GOAWAYs because of device tokens the pause does not grow and no failure counts`() {
        var backoff = Backoff()
        for _ in 0..<20 { _ = backoff.failed(jitter: 0.5) }
        backoff.succeeded()
        #expect(backoff.endedByDeviceTokens(jitter: 0) == .milliseconds(500))
        #expect(backoff.endedByDeviceTokens(jitter: 1) == .seconds(1))
        #expect(backoff.failures == 0)
    }
}
