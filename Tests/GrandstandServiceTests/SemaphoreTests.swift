internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct SemaphoreTests {
    @Test func `so many are inside at a time, and all get in`() async {
        let semaphore = Semaphore(places: 2)
        let valve = Valve()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await semaphore.withPlace { await valve.pass() } } }
            await valve.hold(2)
            valve.open()
        }
        #expect(valve.most == 2)
    }

    @Test func `a place is free again after an error`() async throws {
        struct Refused: Error {}
        let semaphore = Semaphore(places: 1)
        await #expect(throws: Refused.self) { try await semaphore.withPlace { throw Refused() } }
        #expect(await semaphore.withPlace { 7 } == 7)
    }
}
