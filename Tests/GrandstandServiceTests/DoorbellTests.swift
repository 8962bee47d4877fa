internal import Testing

@testable internal import GrandstandService

/// A ring before or during a wait ends the wait. No ring is lost, and a wait can be cancelled.
@Suite(.timeLimit(.minutes(1)))
struct DoorbellTests {
    /// This duration is longer than the test's time limit, so only a ring or a cancellation can end the wait.
    private static let forever = Duration.seconds(3_600)

    @Test func `a ring before the wait ends it`() async {
        let bell = Doorbell()
        bell.ring()
        await bell.wait(atMost: Self.forever)
    }

    @Test func `many rings before the wait count as one`() async {
        let bell = Doorbell()
        for _ in 0..<5 { bell.ring() }
        await bell.wait(atMost: Self.forever)
        // No ring is left, so this wait ends by its timeout.
        let clock = ContinuousClock()
        let start = clock.now
        await bell.wait(atMost: .milliseconds(30))
        #expect(clock.now - start >= .milliseconds(30))
    }

    @Test func `a ring during the wait ends it`() async {
        // Whether the wait or the ring comes first is deliberately left open. In neither order may the ring be lost.
        for _ in 0..<500 {
            let bell = Doorbell()
            async let waiting: Void = bell.wait(atMost: Self.forever)
            bell.ring()
            await waiting
        }
    }

    @Test func `a ring after the wait is for the next wait`() async {
        let bell = Doorbell()
        await bell.wait(atMost: .milliseconds(1))
        bell.ring()
        await bell.wait(atMost: Self.forever)
    }

    @Test func `a wait with timeout zero returns at once and uses up no ring`() async {
        let bell = Doorbell()
        bell.ring()
        await bell.wait(atMost: .zero)
        await bell.wait(atMost: .seconds(-1))
        await bell.wait(atMost: Self.forever)
    }

    @Test func `cancelling the task ends the wait`() async {
        for _ in 0..<200 {
            let bell = Doorbell()
            let task = Task { await bell.wait(atMost: Self.forever) }
            task.cancel()
            await task.value
        }
    }

    @Test func `after a cancelled wait the bell still works`() async {
        let bell = Doorbell()
        let task = Task { await bell.wait(atMost: Self.forever) }
        task.cancel()
        await task.value
        async let waiting: Void = bell.wait(atMost: Self.forever)
        bell.ring()
        await waiting
    }
}
