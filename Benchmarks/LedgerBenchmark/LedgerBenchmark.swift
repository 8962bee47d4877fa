internal import Foundation
internal import GrandstandServer
internal import Logging
internal import Postgres

/// The ledger at Apple's limit: reconciling thousands of channels, and provisioning thousands of events.
///
///     LedgerBenchmark CONNECTION-STRING CHANNELS EVENTS ROUNDS
///     LedgerBenchmark CONNECTION-STRING history PAST ROUNDS
///
/// The second form: what is done again and again, without a past and with as many finished events.
///
/// The database is an empty one; the simulator stands in Apple's place, in this process.
@main
enum LedgerBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let events = Int(arguments[3]), let rounds = Int(arguments[4]),
            arguments[2] == "history" || Int(arguments[2]) != nil
        else {
            print("usage: LedgerBenchmark CONNECTION-STRING CHANNELS|history EVENTS ROUNDS")
            exit(2)
        }
        var configuration = PostgresConfiguration.stores(connectionString: arguments[1])
        configuration.maximumConnections = 8
        var logger = Logger(label: "benchmark") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let pool = PostgresPool(configuration: configuration, logger: logger)
        _ = try await Migrator(pool).migrate()
        try await Bench.with(pool, logger) { bench in
            guard let channels = Int(arguments[2]) else {
                return try await Past(bench: bench, events: events, rounds: rounds).run()
            }
            try await Reconciling(bench: bench, channels: channels, rounds: rounds).run()
            try await Provisioning(bench: bench, events: events).run()
        }
        await pool.close()
    }
}
