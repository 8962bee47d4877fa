internal import Testing

@testable internal import GrandstandService

/// A ring wakes the sleeper, whenever it comes; none is lost, and a wait can be given up.
@Suite(.timeLimit(.minutes(1)))
struct DoorbellTests {
    /// So long that only a ring or a cancellation can be what ended the wait within the time limit.
    private static let forever = Duration.seconds(3_600)

    @Test func `a ring before the wait is kept`() async {
        let bell = Doorbell()
        bell.ring()
        await bell.wait(atMost: Self.forever)
    }

    @Test func `many rings before the wait are one`() async {
        let bell = Doorbell()
        for _ in 0..<5 { bell.ring() }
        await bell.wait(atMost: Self.forever)
        // None is left: this one ends by its time.
        let clock = ContinuousClock()
        let start = clock.now
        await bell.wait(atMost: .milliseconds(30))
        #expect(clock.now - start >= .milliseconds(30))
    }

    @Test func `a ring during the wait ends it`() async {
        // Which of the two comes first is open, on purpose: neither order may lose the ring.
        for _ in 0..<500 {
            let bell = Doorbell()
            async let waiting: Void = bell.wait(atMost: Self.forever)
            bell.ring()
            await waiting
        }
    }

    @Test func `a ring after the wait is for the next`() async {
        let bell = Doorbell()
        await bell.wait(atMost: .milliseconds(1))
        bell.ring()
        await bell.wait(atMost: Self.forever)
    }

    @Test func `a wait of no time is none, and takes no ring`() async {
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

    @Test func `a cancelled wait leaves the bell in order`() async {
        let bell = Doorbell()
        let task = Task { await bell.wait(atMost: Self.forever) }
        task.cancel()
        await task.value
        async let waiting: Void = bell.wait(atMost: Self.forever)
        bell.ring()
        await waiting
    }
}
