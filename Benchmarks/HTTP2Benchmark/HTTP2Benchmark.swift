internal import HTTP2
internal import Logging

/// 600-byte POSTs as fast as they go, and one line of figures: requests per second, latencies, CPU.
@main
struct HTTP2Benchmark {
    static func main() async throws {
        guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else {
            print(Arguments.usage)
            throw Usage()
        }
        var configuration = HTTP2ClientConfiguration(host: arguments.host, port: arguments.port)
        configuration.trustRoots = .file(arguments.authority)
        var connections: [HTTP2ClientConnection] = []
        for _ in 0..<arguments.connections {
            connections.append(try await .connect(configuration, logger: Logger(label: "benchmark")))
        }
        let load = Load(connections: connections, arguments: arguments, request: request(arguments))
        _ = await load.run(max(1, arguments.requests / 10))
        let (clock, cpu) = (ContinuousClock(), CPUTime.seconds)
        let start = clock.now
        let outcome = await load.run(arguments.requests)
        let elapsed = clock.now - start
        report(outcome, elapsed: elapsed, cpu: CPUTime.seconds - cpu)
        for connection in connections { await connection.close() }
    }

    /// The size of a broadcast, with the headers of one.
    private static func request(_ arguments: Arguments) -> HTTP2Request {
        HTTP2Request(
            method: "POST", path: "/", authority: "\(arguments.host):\(arguments.port)",
            headers: [HTTP2Header("content-type", "application/json")], body: [UInt8](repeating: 120, count: 600))
    }

    private static func report(_ outcome: Load.Outcome, elapsed: Duration, cpu: Double) {
        let sorted = outcome.latencies.sorted()
        let count = sorted.count
        let rate = Double(count) / (elapsed / .seconds(1))
        let (median, tail) = (sorted[count / 2], sorted[min(count - 1, count * 99 / 100)])
        print(
            "\(Int(rate)) requests/s, p50 \(milliseconds(median)) ms, p99 \(milliseconds(tail)) ms,",
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
