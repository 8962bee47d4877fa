internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct SemaphoreTests {
    @Test func `at most the allowed number of tasks are inside, and every task gets in`() async {
        let semaphore = Semaphore(permits: 2)
        let valve = Valve()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await semaphore.withPermit { await valve.pass() } } }
            await valve.hold(2)
            valve.open()
        }
        #expect(valve.most == 2)
    }

    @Test func `a permit is free again after an error`() async throws {
        struct Refused: Error {}
        let semaphore = Semaphore(permits: 1)
        await #expect(throws: Refused.self) { try await semaphore.withPermit { throw Refused() } }
        #expect(await semaphore.withPermit { 7 } == 7)
    }
}
