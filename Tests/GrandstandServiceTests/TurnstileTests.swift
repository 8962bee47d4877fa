internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct TurnstileTests {
    @Test func `one at a time passes for a key, and other keys do not wait`() async {
        let turnstile = Turnstile<String>()
        let valve = Valve()
        let all = await turnstile.queue("a", (0..<20).map { _ in { await valve.pass() } })
        await valve.hold(1)
        #expect(await turnstile.pass("b") { 7 } == 7)
        valve.open()
        for one in all { await one.value }
        #expect(valve.most == 1)
    }

    @Test func `who came first passes first`() async {
        let turnstile = Turnstile<String>()
        let valve = Valve()
        let passed = Mutex<[Int]>([])
        let holder = Task { await turnstile.pass("a") { await valve.pass() } }
        await valve.hold(1)
        let all = await turnstile.queue("a", (0..<20).map { number in { passed.withLock { $0.append(number) } } })
        valve.open()
        for one in all { await one.value }
        await holder.value
        #expect(passed.withLock { $0 } == Array(0..<20))
    }

    @Test func `nobody is left inside: the next passes at once`() async {
        let turnstile = Turnstile<String>()
        for round in 0..<3 { #expect(await turnstile.pass("a") { round } == round) }
    }
}

extension Turnstile {
    /// Sends callers on their way in this order.
    fileprivate func queue(_ key: Key, _ bodies: [@Sendable () async -> Void]) -> [Task<Void, Never>] {
        bodies.map { body in Task { await self.pass(key, body) } }
    }
}
