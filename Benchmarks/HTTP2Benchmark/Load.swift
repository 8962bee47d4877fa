internal import HTTP2

/// Keeps a number of requests in flight on each connection until all have been sent.
struct Load {
    let connections: [HTTP2ClientConnection]
    let arguments: Arguments
    let request: HTTP2Request

    struct Outcome {
        var failures = 0
        var latencies: [Duration] = []
    }

    func run(_ requests: Int) async -> Outcome {
        let callers = arguments.inFlight * connections.count
        return await withTaskGroup(of: Outcome.self) { group in
            for caller in 0..<callers {
                let connection = connections[caller % connections.count]
                let share = requests / callers + (caller < requests % callers ? 1 : 0)
                group.addTask { await call(connection, times: share) }
            }
            return await group.reduce(into: Outcome()) { all, one in
                all.failures += one.failures
                all.latencies += one.latencies
            }
        }
    }

    private func call(_ connection: HTTP2ClientConnection, times: Int) async -> Outcome {
        var outcome = Outcome()
        outcome.latencies.reserveCapacity(times)
        let clock = ContinuousClock()
        for _ in 0..<times {
            let start = clock.now
            let response = try? await connection.send(request, timeout: .seconds(30))
            outcome.latencies.append(clock.now - start)
            if response.map({ $0.status / 100 == 2 }) != true { outcome.failures += 1 }
        }
        return outcome
    }
}
