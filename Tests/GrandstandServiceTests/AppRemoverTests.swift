internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct AppRemoverTests {
    @Test func `an app is removed in steps while something may be left, also after a failed step`() async {
        let steps = Mutex(0)
        let remover = AppRemover(interval: .milliseconds(1), now: { Sample.now }, logger: Sample.logger) {
            let step = steps.withLock { steps in
                steps += 1
                return steps
            }
            if step == 3 { throw Problem(.storeUnavailable, "down") }
            return step < 5
        }
        let running = Task { await remover.run() }
        while steps.withLock({ $0 }) < 7 { await Task.yield() }
        running.cancel()
        await running.value
    }
}
