internal import ArgumentParser
internal import Foundation
internal import GrandstandApp
internal import UnixSignals

/// `grandstand serve`: the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Runs the server until SIGTERM or SIGINT.",
        discussion: """
            Uses the PostgreSQL that DATABASE_URL names; unset, a private one under GRANDSTAND_DATA_DIR. On the stop \
            signal no new requests are taken, sends under way finish, the rest stays in the outbox.
            """)

    func run() async throws {
        CoreDumps.disable()
        let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
        let server = try await Server.build(configuration, logger: configuration.makeLogger())
        try await server.run(stoppingOn: [.sigterm, .sigint])
    }
}
