internal import Foundation
internal import Logging

@testable internal import EmbeddedPostgres

/// A folder for one test, gone with it, and what the tests do in it.
final class Workshop: Sendable {
    let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "/grandstand-test-" + UUID().uuidString
        // As `mktemp -d` makes them: nobody else may enter.
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    var directory: String { "\(folder)/data" }

    func cluster(at directory: String? = nil, search: InstallationSearch = .standard()) -> PostgresCluster {
        PostgresCluster(
            directory: directory ?? self.directory, logger: Logger(label: "test"), durable: false, search: search)
    }

    /// Runs a cluster for the time of `body`.
    func withCluster<Value: Sendable>(
        at directory: String? = nil, _ body: (PostgresCluster, String) async throws -> Value
    ) async throws -> Value {
        let cluster = cluster(at: directory)
        let connection = try await cluster.start()
        do {
            let value = try await body(cluster, connection)
            await cluster.stop()
            return value
        } catch {
            await cluster.stop()
            throw error
        }
    }

    /// What `psql` answers, without decoration.
    static func ask(_ connection: String, _ sql: String) async throws -> String {
        guard let installation = InstallationSearch.standard().installations().first else {
            throw PostgresClusterError(.binariesMissing)
        }
        let command = [installation.program("psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, connection]
        let answer = try await CapturedRun.of(command, environment: ChildEnvironment.make())
        guard answer.ending.isSuccess else { throw PsqlFailure(output: answer.output) }
        return answer.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

struct PsqlFailure: Error, CustomStringConvertible {
    let output: String
    var description: String { "psql: \(output)" }
}
