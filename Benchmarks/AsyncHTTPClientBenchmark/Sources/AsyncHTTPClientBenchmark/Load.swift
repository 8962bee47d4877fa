internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// Keeps a number of requests in flight on each client until all have been sent.
struct Load {
    let clients: [HTTPClient]
    let request: HTTPClientRequest
    let inFlight: Int

    struct Outcome: Sendable {
        var failures = 0
        var latencies: [Duration] = []
    }

    func run(_ requests: Int) async throws -> Outcome {
        let callers = inFlight * clients.count
        return await withTaskGroup(of: Outcome.self) { group in
            for caller in 0..<callers {
                let client = clients[caller % clients.count]
                let share = requests / callers + (caller < requests % callers ? 1 : 0)
                group.addTask { await call(client, times: share) }
            }
            return await group.reduce(into: Outcome()) { all, one in
                all.failures += one.failures
                all.latencies += one.latencies
            }
        }
    }

    private func call(_ client: HTTPClient, times: Int) async -> Outcome {
        var outcome = Outcome()
        let clock = ContinuousClock()
        for _ in 0..<times {
            let start = clock.now
            if await !isAnswered(by: client) { outcome.failures += 1 }
            outcome.latencies.append(clock.now - start)
        }
        return outcome
    }

    private func isAnswered(by client: HTTPClient) async -> Bool {
        do {
            let response = try await client.execute(request, timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
            return response.status.code / 100 == 2
        } catch {
            return false
        }
    }
}
