internal import FoundationEssentials
internal import Logging
internal import Postgres

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#endif

/// The statement of `pgbench -S`, by our own client: random accounts, one query after the other on each connection.
///
///     PostgresBenchmark "host=/tmp dbname=bench" CONNECTIONS SECONDS ACCOUNTS [pool]
///
/// The callers run on the connections' loop, or, with `pool`, on Swift's global pool.
@main
enum PostgresBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5, let connections = Int(arguments[2]), let seconds = Double(arguments[3]),
            let accounts = Int(arguments[4])
        else {
            print("usage: PostgresBenchmark CONNECTION-STRING CONNECTIONS SECONDS ACCOUNTS [pool]")
            exit(2)
        }
        var configuration = PostgresConfiguration(connectionString: arguments[1])
        configuration.maximumConnections = connections
        let pool = PostgresPool(configuration: configuration, logger: Logger(label: "benchmark"))

        let onLoop = arguments.last != "pool"

        let started = ContinuousClock.now
        let deadline = started + .seconds(seconds)
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<connections {
                group.addTask {
                    try await pool.withConnection { connection in
                        try await withTaskExecutorPreference(onLoop ? connection.taskExecutor : nil) {
                            try await ask(connection, accounts: accounts, until: deadline)
                        }
                    }
                }
            }
            var total = 0
            for try await count in group { total += count }
            return total
        }
        let elapsed = started.duration(to: .now)
        await pool.close()
        let rate = Double(total) / (Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18)
        print("tps = \(Int(rate))")
    }

    private static func ask(
        _ connection: PostgresConnection, accounts: Int, until deadline: ContinuousClock.Instant
    ) async throws -> Int {
        var count = 0
        // The system's generator is a system call a number; pgbench has one of its own, too.
        var random = UInt64.random(in: 1 ... .max)
        while ContinuousClock.now < deadline {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            let account = Int32(random % UInt64(accounts)) + 1
            let rows = try await connection.query("select abalance from pgbench_accounts where aid = \(account)")
            guard rows.count == 1, try rows[0].decode(Int32.self, "abalance") == 0 else { throw BenchmarkFailure() }
            count += 1
        }
        return count
    }
}

/// The answer was not what pgbench's table holds.
struct BenchmarkFailure: Error {}
