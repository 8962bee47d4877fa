internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct RecentValueTests {
    @Test func `a crowd that asks makes it once, and again only when it is old`() async {
        let valve = Valve()
        let made = Mutex(0)
        let value = RecentValue<Int>(age: .seconds(3_600), timeout: .seconds(3_600), late: { -1 }) {
            await valve.pass()
            return made.withLock { made in
                made += 1
                return made
            }
        }
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { await value.get() } }
            await valve.hold(1)
            valve.open()
            for await answer in group { #expect(answer == 1) }
        }
        #expect(await value.get() == 1)
        #expect(made.withLock { $0 } == 1)
    }

    @Test func `one that is old is made anew`() async {
        let made = Mutex(0)
        let value = RecentValue<Int>(age: .zero, timeout: .seconds(3_600), late: { -1 }) {
            made.withLock { made in
                made += 1
                return made
            }
        }
        #expect(await value.get() == 1)
        #expect(await value.get() == 2)
    }

    @Test func `no caller waits for long, no second maker begins, and a late value counts`() async {
        let valve = Valve()
        let value = RecentValue<Int>(age: .seconds(3_600), timeout: .milliseconds(1), late: { -1 }) {
            await valve.pass()
            return 1
        }
        #expect(await value.get() == -1)
        #expect(await value.get() == -1)
        #expect(valve.most == 1)
        valve.open()
        while await value.get() != 1 { await Task.yield() }
    }
}
