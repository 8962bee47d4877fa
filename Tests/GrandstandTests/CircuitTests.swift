internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

struct CircuitTests {
    private let start = Date(timeIntervalSince1970: 1_000)

    private func after(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    /// A circuit that opened `minimumOutage` after `start`.
    private func opened() -> Circuit {
        var circuit = Circuit()
        for _ in 1..<Circuit.threshold { circuit.record(.failed, now: start, jitter: 1) }
        let changed = circuit.record(.failed, now: after(Circuit.minimumOutage), jitter: 1)
        #expect(changed)
        return circuit
    }

    @Test func `the requests of one broken connection do not open the circuit, but continued failures do`() {
        var circuit = Circuit()
        for _ in 1...200 { circuit.record(.failed, now: after(0.1), jitter: 1) }
        #expect(circuit.isClosed && circuit.pause(now: start) == nil)
        #expect(circuit.admits(70, flying: 30, now: start) == 70)
        circuit.record(.alive, now: after(0.2), jitter: 1)
        for _ in 1...Circuit.threshold { circuit.record(.failed, now: after(0.7), jitter: 1) }
        #expect(circuit.isClosed)
        circuit.record(.failed, now: after(1.2), jitter: 1)
        #expect(!circuit.isClosed)
        // Any answer closes it.
        let changed = circuit.record(.alive, now: after(1.3), jitter: 1)
        #expect(changed && circuit == Circuit())
    }

    @Test
    func `an open circuit admits nothing during its pause, then one request, and no second one before the answer`() {
        var circuit = opened()
        let opening = after(Circuit.minimumOutage)
        #expect(circuit.admits(100, flying: 5, now: opening) == 0)
        #expect(circuit.pause(now: opening) == 0.5)
        #expect(circuit.admits(100, flying: 5, now: opening.addingTimeInterval(0.5)) == 1)
        #expect(circuit.admits(100, flying: 6, now: opening.addingTimeInterval(0.5)) == 0)
        // This server did not send the admitted request, so the request says nothing about the host. Another request
        // may be sent.
        circuit.record(.silent, now: opening.addingTimeInterval(0.6), jitter: 1)
        #expect(circuit.admits(100, flying: 0, now: opening.addingTimeInterval(0.6)) == 1)
    }

    @Test func `failed probes get further apart, up to a maximum, and older requests change nothing`() {
        var circuit = opened()
        var now = after(Circuit.minimumOutage)
        var pauses: [TimeInterval] = []
        for _ in 1...6 {
            circuit.record(.failed, now: now, jitter: 1)
            let pause = circuit.pause(now: now) ?? 0
            pauses.append(pause)
            now = now.addingTimeInterval(pause)
            #expect(circuit.admits(10, flying: 0, now: now) == 1)
            circuit.record(.failed, now: now, jitter: 1)
        }
        #expect(pauses == [0.5, 1, 2, 4, 5, 5])
    }

    @Test(arguments: [
        (APNsAnswer<Void>.accepted((), APNsReceipt(requestID: nil)), Circuit.Outcome.alive),
        (.refused(APNsRefusal(status: 400, reason: .badChannelId)), .alive),
        (.refused(APNsRefusal(status: 429, reason: .tooManyRequests)), .alive),
        (.refused(APNsRefusal(status: 503, reason: .serviceUnavailable)), .failed),
        (.refused(APNsRefusal(status: 502, reason: APNsReason(rawValue: "HTTP502"))), .failed),
        (.unanswered("lost"), .failed), (.unsent("no connection"), .failed), (.withheld("no key"), .silent),
    ])
    func `each answer shows whether the host works`(_ answer: APNsAnswer<Void>, _ outcome: Circuit.Outcome) {
        #expect(Circuit.Outcome(answer) == outcome)
    }
}
