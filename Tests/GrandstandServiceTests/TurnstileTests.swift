internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct TurnstileTests {
    @Test func `who comes while somebody is inside gets what that one found`() async {
        let turnstile = Turnstile<String, Int>()
        let valve = Valve()
        let inside = Task { await turnstile.pass("a", waits: true) { (await valve.pass(), 7) } }
        await valve.hold(1)
        let others = (0..<20).map { _ in
            Task { await turnstile.pass("a", waits: true) { (await valve.pass(), 8) } }
        }
        while await turnstile.waiting["a"]?.count != 20 { await Task.yield() }
        valve.open()
        guard case .own = await inside.value else {
            Issue.record("the first did not go through itself")
            return
        }
        for other in others {
            guard case .other(7) = await other.value else {
                Issue.record("somebody else went through")
                return
            }
        }
        #expect(valve.most == 1)
    }

    @Test func `who does not want to wait is told so, and other keys are free`() async {
        let turnstile = Turnstile<String, Int>()
        let valve = Valve()
        let inside = Task { await turnstile.pass("a", waits: true) { (await valve.pass(), 0) } }
        await valve.hold(1)
        guard case .busy = await turnstile.pass("a", waits: false, { (1, 1) }) else {
            Issue.record("two went through")
            return
        }
        guard case .own(2) = await turnstile.pass("b", waits: false, { (2, 2) }) else {
            Issue.record("another key was held up")
            return
        }
        valve.open()
        _ = await inside.value
    }

    @Test func `nobody is left inside: the next goes through`() async {
        let turnstile = Turnstile<String, Int>()
        for round in 0..<3 {
            guard case .own(round) = await turnstile.pass("a", waits: true, { (round, round) }) else {
                Issue.record("round \(round) did not go through")
                return
            }
        }
    }
}
