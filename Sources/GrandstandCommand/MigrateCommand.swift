internal import ArgumentParser
internal import Foundation
internal import GrandstandServer

/// `grandstand migrate`: migrates the database to this program's schema.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Applies the migrations that the database does not have yet.")

    func run() async throws {
        let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
        let session = try await DatabaseSession.connect(configuration.database, logger: configuration.makeLogger())
        try await withCleanup({ await session.close() }) {
            let names = try await session.migrate { Terminal.say("\($0)") }
            print(names.isEmpty ? "nothing to do" : names.map { "applied \($0)" }.joined(separator: "\n"))
        }
    }
}
