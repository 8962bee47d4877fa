internal import Testing

@testable internal import APNsClient

struct BackoffTests {
    @Test func `each pause is twice as long as the one before, up to the longest`() {
        var backoff = Backoff()
        // With jitter 1, each pause has its full length. In production the jitter is a random number below 1.
        let pauses = (0..<12).map { _ in backoff.failed(jitter: 1) }
        #expect(pauses.prefix(4) == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(pauses.last == .seconds(15))
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func `jitter shortens a pause by up to half`() {
        var low = Backoff()
        var high = Backoff()
        #expect(low.failed(jitter: 0) == .milliseconds(50))
        #expect(high.failed(jitter: 0.5) == .milliseconds(75))
    }

    @Test func `a success resets the pause, and many failures do not overflow`() {
        var backoff = Backoff()
        for _ in 0..<1_000 { #expect(backoff.failed(jitter: 0.9) <= .seconds(15)) }
        backoff.succeeded()
        #expect(backoff.failures == 0)
        #expect(backoff.failed(jitter: 1) == .milliseconds(100))
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
