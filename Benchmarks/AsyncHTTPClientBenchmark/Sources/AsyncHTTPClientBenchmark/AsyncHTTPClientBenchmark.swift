internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// 600-byte POSTs by async-http-client, and one line of figures: as `HTTP2Benchmark`, which measures ours.
@main
struct AsyncHTTPClientBenchmark {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let numbers = arguments.suffix(3).compactMap(Int.init)
        guard arguments.count == 6, numbers.count == 3, numbers.allSatisfy({ $0 > 0 }) else {
            print("usage: AsyncHTTPClientBenchmark HOST PORT CA-FILE CONNECTIONS IN-FLIGHT REQUESTS")
            throw Usage()
        }
        // A client each: one opens a second connection to a host only when the first takes no more.
        let clients = (0..<numbers[0]).map { _ in client(authority: arguments[2]) }
        let load = Load(clients: clients, request: request(arguments[0], arguments[1]), inFlight: numbers[1])
        _ = try await load.run(max(1, numbers[2] / 10))
        let (clock, cpu) = (ContinuousClock(), CPUTime.seconds)
        let start = clock.now
        let outcome = try await load.run(numbers[2])
        report(outcome, elapsed: clock.now - start, cpu: CPUTime.seconds - cpu)
        for client in clients { try await client.shutdown() }
    }

    private static func client(authority: String) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(authority)
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .automatic
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private static func request(_ host: String, _ port: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "https://\(host):\(port)/")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(repeating: 120, count: 600))
        return request
    }

    private static func report(_ outcome: Load.Outcome, elapsed: Duration, cpu: Double) {
        let sorted = outcome.latencies.sorted()
        let count = sorted.count
        let rate = Double(count) / (elapsed / .seconds(1))
        print(
            "\(Int(rate)) requests/s, p50 \(milliseconds(sorted[count / 2])) ms,",
            "p99 \(milliseconds(sorted[min(count - 1, count * 99 / 100)])) ms,",
            "\((cpu * 1_000).rounded() / 1_000) CPU s, \(outcome.failures) failed,",
            "\(CPUTime.peakMegabytes) MB peak")
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        (duration / .milliseconds(1) * 100).rounded() / 100
    }
}

/// The command line was not understood; the usage has been printed.
struct Usage: Error, CustomStringConvertible {
    let description = "arguments not understood"
}
