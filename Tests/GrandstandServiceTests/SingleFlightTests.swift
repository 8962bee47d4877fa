internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct SingleFlightTests {
    @Test func `a caller that comes while work runs gets what that finds`() async {
        let flight = SingleFlight<String, Int>()
        let valve = Valve()
        let inside = Task { await flight.run("a", waits: true) { (await valve.pass(), 7) } }
        await valve.hold(1)
        let others = (0..<20).map { _ in
            Task { await flight.run("a", waits: true) { (await valve.pass(), 8) } }
        }
        while await flight.waiting["a"]?.count != 20 { await Task.yield() }
        valve.open()
        guard case .ran = await inside.value else {
            Issue.record("the first did not run its own work")
            return
        }
        for other in others {
            guard case .joined(7) = await other.value else {
                Issue.record("somebody else went through")
                return
            }
        }
        #expect(valve.most == 1)
    }

    @Test func `a caller that does not wait is told that work runs, and other keys are free`() async {
        let flight = SingleFlight<String, Int>()
        let valve = Valve()
        let inside = Task { await flight.run("a", waits: true) { (await valve.pass(), 0) } }
        await valve.hold(1)
        guard case .busy = await flight.run("a", waits: false, { (1, 1) }) else {
            Issue.record("two went through")
            return
        }
        guard case .ran(2) = await flight.run("b", waits: false, { (2, 2) }) else {
            Issue.record("another key was held up")
            return
        }
        valve.open()
        _ = await inside.value
    }

    @Test func `the key is free afterwards`() async {
        let flight = SingleFlight<String, Int>()
        for round in 0..<3 {
            guard case .ran(round) = await flight.run("a", waits: true, { (round, round) }) else {
                Issue.record("round \(round) did not go through")
                return
            }
        }
    }
}
