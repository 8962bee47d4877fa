internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandServer
internal import Logging
internal import Postgres

/// Registrations of installations through the store, durable, as many callers at a time as asked for.
///
///     RegistrationBenchmark CONNECTION-STRING prepare
///     RegistrationBenchmark CONNECTION-STRING COUNT CALLERS
///
/// The second form registers COUNT installations with a token and three topics each, then repeats that, then has each
/// follow another topic; prints what a second took of each. The database is one that the first form has prepared.
@main
enum RegistrationBenchmark {
    private static let topics = ["team:a", "team:b", "league:c"].map { Topic($0) }

    static func main() async throws {
        let arguments = CommandLine.arguments
        var logger = Logger(label: "benchmark") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        guard arguments.count > 2, let bundleID = BundleID(rawValue: "com.example.Benchmark") else {
            print("usage: RegistrationBenchmark CONNECTION-STRING prepare|COUNT [CALLERS]")
            exit(2)
        }
        let pool = PostgresPool(
            configuration: .outbox(
                connectionString: arguments[1], connections: InstallationStore.connections), logger: logger)
        if arguments[2] == "prepare" {
            _ = try await Migrator(pool).migrate()
            let app = Contract.AppDraft(name: "Benchmark", teamId: "TEAM123456", keyId: "KEY1234567")
            _ = try await AppStore(Database(pool)).put(bundleID, app, by: .server, now: Date())
        } else if let count = Int(arguments[2]), let callers = Int(arguments[3]) {
            let store = InstallationStore(Database(pool))
            let ids = (0..<count).map { _ in
                InstallationID(bundleID: bundleID, environment: .production, id: UUID())
            }
            for (name, topics) in [("new", topics), ("repeat", topics), ("follow", topics + [Topic("team:d")])] {
                let seconds = try await put(ids, topics: Set(topics), in: store, callers: callers)
                print("\(name) = \(Int(Double(count) / seconds))")
            }
        }
        await pool.close()
    }

    /// Seconds that all of them take.
    private static func put(
        _ ids: [InstallationID], topics: Set<Topic>, in store: InstallationStore, callers: Int
    ) async throws -> Double {
        let secret = String(repeating: "s", count: 43)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    for index in stride(from: caller, to: ids.count, by: callers) {
                        let state = InstallationState(
                            systemVersion: SystemVersion(18, 4), appVersion: "5.2", locale: "de-AT",
                            timeZone: "Europe/Vienna",
                            startTokens: ["MatchAttributes": Self.token(ids[index].id)], topics: topics)
                        _ = try await store.put(state, of: ids[index], secret: secret, now: Date())
                    }
                }
            }
            try await group.waitForAll()
        }
        let elapsed = start.duration(to: .now).components
        return Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
    }

    /// As long as Apple's are now: 80 bytes.
    private static func token(_ id: UUID) -> DeviceToken {
        let bytes = withUnsafeBytes(of: id.uuid) { Array($0) }
        guard let token = DeviceToken(bytes: Array(repeatElement(bytes, count: 5).joined())) else {
            preconditionFailure("80 bytes are a token")
        }
        return token
    }
}

extension Topic {
    /// A topic of this benchmark's own.
    fileprivate init(_ text: String) {
        guard let topic = Topic(rawValue: text) else { preconditionFailure("\(text) is a topic") }
        self = topic
    }
}
