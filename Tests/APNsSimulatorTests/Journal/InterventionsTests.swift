internal import APNsWire
internal import Testing

@testable internal import APNsSimulator

struct InterventionsTests {
    private let request = SimulatorRequest(environment: .production, method: "GET", path: "/")

    @Test func `the first matching rule acts, as often as its limit says`() {
        var interventions = Interventions()
        interventions.add(.drop, count: 1) { $0.method == "POST" }
        interventions.add(.answer(SimulatorAnswer(status: 503)), count: 2) { _ in true }
        interventions.add(.answer(SimulatorAnswer(status: 429)), count: 1) { $0.method == "GET" }
        let statuses = (0..<4).map { _ in status(interventions.claim(request)) }
        #expect(statuses == [503, 503, 429, nil])
    }

    @Test func `an intervention that withholds answers applies until it is released`() {
        var interventions = Interventions()
        let hold = Hold()
        interventions.add(.hold(hold), count: nil) { _ in true }
        #expect(interventions.claim(request) != nil)
        #expect(interventions.claim(request) != nil)
        hold.release()
        #expect(interventions.claim(request) == nil)
    }

    private func status(_ action: Interventions.Action?) -> Int? {
        if case .answer(let answer) = action { answer.status } else { nil }
    }
}
