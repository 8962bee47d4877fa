internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct SingleFlightTests {
    /// The callers whose work ran.
    private final class Runs: Sendable {
        private let list = Mutex<[String]>([])

        var callers: [String] { list.withLock { $0 } }

        func add(_ caller: String) { list.withLock { $0.append(caller) } }
    }

    @Test func `a caller that comes while work runs waits for it and does not run its own`() async {
        let flight = SingleFlight<String>()
        let valve = Valve()
        let runs = Runs()
        let inside = Task {
            await flight.run("a") {
                runs.add("first")
                await valve.pass()
            }
        }
        await valve.hold(1)
        let others = (0..<20).map { _ in Task { await flight.run("a") { runs.add("another") } } }
        while await flight.waiting["a"]?.count != 20 { await Task.yield() }
        valve.open()
        await inside.value
        for other in others { await other.value }
        #expect(runs.callers == ["first"])
    }

    @Test func `another key is free meanwhile, and the same one afterwards`() async {
        let flight = SingleFlight<String>()
        let valve = Valve()
        let runs = Runs()
        let inside = Task { await flight.run("a") { await valve.pass() } }
        await valve.hold(1)
        await flight.run("b") { runs.add("b") }
        #expect(runs.callers == ["b"])
        valve.open()
        await inside.value
        await flight.run("a") { runs.add("a") }
        #expect(runs.callers == ["b", "a"])
    }
}
