internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import Logging
internal import Synchronization

/// The running stage of a rehearsal: a simulator, a PostgreSQL and a server of its own, and a second server process
/// where one is to be killed.
struct RehearsalStage: Sendable {
    let simulator: Simulator
    /// Of the first server.
    let address: URL
    /// One for each server.
    let clients: [GrandstandClient]
    let recorder: RehearsalRecorder
    /// How long an alert rings, by the settings.
    let alertFreshness: TimeInterval
    private let database: DatabaseSession
    private let replica: ReplicaProcess?

    /// Sets everything up, runs `body`, and takes everything down again.
    static func with<Value: Sendable>(
        _ settings: [String: String], secondServer: Bool,
        _ body: @escaping @Sendable (RehearsalStage) async throws -> Value
    ) async throws -> Value {
        var logger = Logger(label: "rehearsal") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        return try await withTemporaryFolder("grandstand-rehearsal") { [logger] folder in
            try await Simulator.running(in: folder + "/apns", logger: logger) { simulator, addresses in
                let recorder = RehearsalRecorder()
                let listening = recorder.listen(to: simulator)
                defer { listening.cancel() }
                return try await withDatabase(folder + "/data", logger) { database in
                    let settings = settings.merging(addresses.settings(keys: folder + "/apns")) { $1 }
                        .merging(["DATABASE_URL": database.url]) { $1 }
                    let configuration = try Configuration(environment: settings)
                    let server = try await Server.build(configuration, logger: logger)
                    return try await server.whileRunning { port in
                        let secret = try await server.keys.create(
                            KeyDraft(name: "rehearsal", scopes: [.admin]), by: .commandLine, now: Date()
                        ).secret
                        let replica = secondServer ? try await ReplicaProcess.start(settings) : nil
                        let urls = [try Server.address("http", port)] + (replica.map { [$0.url] } ?? [])
                        let stage = RehearsalStage(
                            simulator: simulator, address: urls[0],
                            clients: urls.map { GrandstandClient(server: $0, key: secret) },
                            recorder: recorder, alertFreshness: configuration.alertFreshness, database: database,
                            replica: replica)
                        do {
                            let value = try await body(stage)
                            await replica?.kill()
                            return value
                        } catch {
                            await replica?.kill()
                            throw error
                        }
                    }
                }
            }
        }
    }

    private static func withDatabase<Value>(
        _ folder: String, _ logger: Logger, isolation: isolated (any Actor)? = #isolation,
        _ body: (DatabaseSession) async throws -> Value
    ) async throws -> Value {
        let database = try await DatabaseSession.open(.embedded(directory: folder), logger: logger)
        do {
            let value = try await body(database)
            await database.close()
            return value
        } catch {
            await database.close()
            throw error
        }
    }

    /// Causes the fault; returns once it is over.
    func strike(_ kind: RehearsalFault.Kind, outage seconds: TimeInterval) async throws {
        switch kind {
        case .outage:
            let outage = Outage()
            simulator.answerNext(.max, with: .refusal(.serviceUnavailable)) { _ in outage.isOn.withLock { $0 } }
            defer { outage.isOn.withLock { $0 = false } }
            try await Task.sleep(for: .seconds(seconds))
        case .replica: await replica?.kill()
        case .database: try await database.restart()
        }
    }

    /// Makes a call to a server, the next one when it does not answer or cannot, until one decides it. A repetition is the
    /// same call: it carries the same `Idempotency-Key`.
    ///
    /// - Throws: `StartError` when there is no decision within two minutes.
    func call(
        _ method: String, _ path: String, json: [UInt8]? = nil, as name: String? = nil, first: Int = 0
    ) async throws -> GrandstandClient.Answer {
        let deadline = ContinuousClock.now + .seconds(120)
        var turn = first
        while true {
            let client = clients[turn % clients.count]
            let answer = try? await client.send(
                method, path, json: json.map { Data($0) }, headers: name.map { ["Idempotency-Key": $0] } ?? [:])
            if let answer, answer.status < 500, answer.status != 429 { return answer }
            try Task.checkCancellation()
            guard ContinuousClock.now < deadline else {
                throw StartError("\(method) \(path) was not answered for two minutes: \(answer?.status ?? 0)")
            }
            turn += 1
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Makes a call whose answer is needed.
    ///
    /// - Throws: `StartError` with the refusal.
    func value(_ method: String, _ path: String, json: [UInt8]? = nil) async throws -> JSONValue {
        guard let value = try ServerAccess.json(of: try await call(method, path, json: json)) else {
            throw StartError("\(method) \(path): the answer is empty")
        }
        return value
    }
}

/// APNs is not there for a while.
private final class Outage: Sendable {
    let isOn = Mutex(true)
}
