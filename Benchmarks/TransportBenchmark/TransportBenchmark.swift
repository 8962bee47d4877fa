internal import HTTP2
internal import Logging

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#endif

/// Requests by our HTTP/2 client, one after the other by each caller, for `Benchmarks/run.py`. Prints one line of JSON:
/// how many, the seconds, and half and 99 of 100 in milliseconds.
///
///     TransportBenchmark PORT CA-FILE CONNECTIONS IN-FLIGHT REQUESTS
@main
enum TransportBenchmark {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let numbers = arguments.map { Int($0) ?? 0 }
        guard arguments.count == 5 else {
            print("usage: TransportBenchmark PORT CA-FILE CONNECTIONS IN-FLIGHT REQUESTS")
            exit(2)
        }
        var configuration = HTTP2ClientConfiguration(host: "127.0.0.1", port: numbers[0])
        configuration.trustRoots = .file(arguments[1])
        // The size of a broadcast.
        let request = HTTP2Request(
            method: "POST", path: "/", authority: "127.0.0.1:\(numbers[0])",
            headers: [HTTP2Header("content-type", "application/json")], body: [UInt8](repeating: 120, count: 600))
        let logger = Logger(label: "benchmark")
        var connections: [HTTP2ClientConnection] = []
        for _ in 0..<numbers[2] { connections.append(try await .connect(configuration, logger: logger)) }
        let (opened, callers) = (connections, numbers[2] * numbers[3])
        // A tenth warms up.
        for count in [numbers[4] / 10, numbers[4]] {
            try await measure(callers, prints: count == numbers[4]) { caller in
                var latencies: [Duration] = []
                while latencies.count < max(1, count / callers) {
                    let began = ContinuousClock.now
                    let response = try await opened[caller % opened.count].send(request, timeout: .seconds(30))
                    guard response.status == 200 else { throw WrongAnswer() }
                    latencies.append(ContinuousClock.now - began)
                }
                return latencies
            }
        }
        for connection in opened { await connection.close() }
    }

    private static func measure(
        _ callers: Int, prints: Bool, _ work: @escaping @Sendable (_ caller: Int) async throws -> [Duration]
    ) async throws {
        let start = ContinuousClock.now
        let sorted = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for caller in 0..<callers { group.addTask { try await work(caller) } }
            return try await group.reduce(into: []) { $0 += $1 }.sorted()
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let (half, most) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
        guard prints else { return }
        print(
            #"{"count":\#(sorted.count),"seconds":\#(seconds),"#,
            #""p50":\#(half / .milliseconds(1)),"p99":\#(most / .milliseconds(1))}"#)
    }
}

/// The answer was not what nghttpd serves.
struct WrongAnswer: Error {}
