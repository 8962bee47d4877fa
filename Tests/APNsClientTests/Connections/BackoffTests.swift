internal import Testing

@testable internal import APNsClient

struct BackoffTests {
    @Test func `each pause is twice the one before, up to the ceiling`() {
        var backoff = Backoff()
        // A jitter of 1 cannot come, and shows the whole step.
        let pauses = (0..<12).map { _ in backoff.failed(jitter: 1) }
        #expect(pauses.prefix(4) == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(pauses.last == .seconds(15))
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func `jitter takes up to half of a pause`() {
        var low = Backoff()
        var high = Backoff()
        #expect(low.failed(jitter: 0) == .milliseconds(50))
        #expect(high.failed(jitter: 0.5) == .milliseconds(75))
    }

    @Test func `a success begins anew, and many failures do not overflow`() {
        var backoff = Backoff()
        for _ in 0..<1_000 { #expect(backoff.failed(jitter: 0.9) <= .seconds(15)) }
        backoff.succeeded()
        #expect(backoff.failures == 0)
        #expect(backoff.failed(jitter: 1) == .milliseconds(100))
    }
}
