internal import HTTP2
internal import Logging
internal import Postgres

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#endif

/// Requests by our HTTP/2 client, or statements by our PostgreSQL client, one after the other by each caller, for
/// `Benchmarks/run.py`. Prints one line of JSON: how many, the seconds, and half and 99 of 100 in milliseconds.
///
///     TransportBenchmark http2 PORT CA-FILE CONNECTIONS IN-FLIGHT REQUESTS
///     TransportBenchmark postgres CONNECTION-STRING CONNECTIONS SECONDS ACCOUNTS
@main
enum TransportBenchmark {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let numbers = arguments.map { Int($0) ?? 0 }
        let logger = Logger(label: "benchmark")
        switch arguments.first {
        case "http2" where arguments.count == 6:
            var configuration = HTTP2ClientConfiguration(host: "127.0.0.1", port: numbers[1])
            configuration.trustRoots = .file(arguments[2])
            // The size of a broadcast.
            let request = HTTP2Request(
                method: "POST", path: "/", authority: "127.0.0.1:\(numbers[1])",
                headers: [HTTP2Header("content-type", "application/json")], body: [UInt8](repeating: 120, count: 600))
            var connections: [HTTP2ClientConnection] = []
            for _ in 0..<numbers[3] { connections.append(try await .connect(configuration, logger: logger)) }
            let (opened, callers) = (connections, numbers[3] * numbers[4])
            // A tenth warms up.
            for count in [numbers[5] / 10, numbers[5]] {
                try await measure(callers, prints: count == numbers[5]) { caller in
                    try await latencies { number in
                        guard number < max(1, count / callers) else { return false }
                        let response = try await opened[caller % opened.count].send(request, timeout: .seconds(30))
                        guard response.status == 200 else { throw WrongAnswer() }
                        return true
                    }
                }
            }
            for connection in opened { await connection.close() }
        case "postgres" where arguments.count == 5:
            var configuration = PostgresConfiguration(connectionString: arguments[1])
            configuration.maximumConnections = numbers[2]
            let pool = PostgresPool(configuration: configuration, logger: logger)
            let deadline = ContinuousClock.now + .seconds(numbers[3])
            try await measure(numbers[2], prints: true) { caller in
                try await pool.withConnection { connection in
                    try await latencies { number in
                        // The statement of pgbench -S. A random number would be a call of the system.
                        let account = Int32((caller + 1) * (number + 1) * 7_919 % numbers[4]) + 1
                        let rows = try await connection.query(
                            "select abalance from pgbench_accounts where aid = \(account)")
                        guard try rows[0].decode(Int32.self, "abalance") == 0 else { throw WrongAnswer() }
                        return ContinuousClock.now < deadline
                    }
                }
            }
            await pool.close()
        default:
            print("usage: TransportBenchmark http2 PORT CA-FILE CONNECTIONS IN-FLIGHT REQUESTS")
            print("       TransportBenchmark postgres CONNECTION-STRING CONNECTIONS SECONDS ACCOUNTS")
            exit(2)
        }
    }

    /// Calls one after the other, until one returns false.
    private static func latencies(_ call: (_ number: Int) async throws -> Bool) async throws -> [Duration] {
        var latencies: [Duration] = []
        while true {
            let began = ContinuousClock.now
            guard try await call(latencies.count) else { return latencies }
            latencies.append(ContinuousClock.now - began)
        }
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

/// The answer was not what nghttpd or pgbench's table holds.
struct WrongAnswer: Error {}
