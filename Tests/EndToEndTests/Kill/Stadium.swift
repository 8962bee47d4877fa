internal import APNsSimulator
internal import APNsWire
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

/// Two replicas on a PostgreSQL that can be killed, and the events they serve.
final class Stadium: Sendable {
    /// A broadcast that Apple accepted.
    struct Message {
        let timestamp: Int
        let event: Int
        let step: Int
    }

    private let environment: [String: String]
    private let cluster: PostgresCluster
    private let postmasterFile: String
    private let simulator: Simulator
    private let secret: String
    private let events: Int
    private let servers = Mutex<[ServerProcess?]>([nil, nil])

    init(
        environment: [String: String], cluster: PostgresCluster, postmasterFile: String, simulator: Simulator,
        secret: String, events: Int
    ) {
        self.environment = environment
        self.cluster = cluster
        self.postmasterFile = postmasterFile
        self.simulator = simulator
        self.secret = secret
        self.events = events
    }

    /// Starts both replicas and opens the events.
    func open() async throws {
        try await revive()
        let api = try #require(caller(0))
        try await Stage.putApp(api)
        let audience = Stage.audience(.production, .mostRecentMessageStored)
        for event in 0..<events {
            let answer = try await api(
                "PUT", "/v1/events/match-\(event)", #"{"name": "Match", "audiences": [\#(audience)]}"#)
            try #require(answer.status == 201, "\(answer.text)")
        }
        _ = try await until("every event has its channel", within: .seconds(60)) {
            try await channels().count >= events ? true : nil
        }
    }

    /// Events that come while others are killed: their channels are being made then. Whether they were declared is not
    /// known before `settleNewcomers`.
    func declareNewcomers(round: Int) async {
        for n in 0..<Self.newcomers { _ = try? await declare("late-\(round)-\(n)", replica: n % 2) }
    }

    /// Events declared in each round.
    private static let newcomers = 3

    /// Declares all newcomers again, and waits for their channels.
    func settleNewcomers(rounds: Int) async throws {
        for round in 1...rounds {
            for n in 0..<Self.newcomers {
                let status = try await declare("late-\(round)-\(n)", replica: n % 2)
                try #require(status == 200 || status == 201)
            }
        }
        _ = try await until("every newcomer has its channel", within: .seconds(60)) {
            try await channels().count >= events + rounds * Self.newcomers ? true : nil
        }
    }

    private func declare(_ key: String, replica: Int) async throws -> Int? {
        let audience = Stage.audience(.production, .mostRecentMessageStored)
        return try await caller(replica)?(
            "PUT", "/v1/events/\(key)", #"{"name": "Match", "audiences": [\#(audience)]}"#
        ).status
    }

    /// Apple's IDs of the channels that events have, by event.
    func channels() async throws -> [String: String] {
        let rows = try await rows(
            "select event_key, channel_id from channels where state = 'active' and event_key is not null")
        var channels: [String: String] = [:]
        for row in rows {
            channels[try row.decode(String.self, "event_key")] = try row.decode(String.self, "channel_id")
        }
        return channels
    }

    /// What the database says, past the servers.
    func rows(_ query: PostgresQuery) async throws -> PostgresRows {
        let pool = PostgresPool(
            configuration: PostgresConfiguration(connectionString: environment["DATABASE_URL"] ?? ""),
            logger: Stage.logger)
        do {
            let rows = try await pool.query(query)
            await pool.close()
            return rows
        } catch {
            await pool.close()
            throw error
        }
    }

    func caller(_ replica: Int) -> HTTPCaller? {
        servers.withLock { $0[replica] }.map { HTTPCaller(url: $0.url, secret: secret) }
    }

    /// Sends an event's next state; with a draft that is withdrawn, when this is its turn.
    func update(_ event: Int, round: Int) async -> KillCalls.Call {
        var call = KillCalls.Call(event: event)
        let step = 2 * round
        if await post(event, step: step).isAccepted { call.accepted = step } else { call.maybe.insert(step) }
        guard KillWorld.all.contains(.withdrawals), (event + round).isMultiple(of: 5) else { return call }
        let draft = step + 1
        switch await post(event, step: draft) {
        case (true, let id?):
            let answer = try? await caller(event % 2)?("DELETE", "/v1/broadcasts/\(id)")
            switch answer?.status {
            case 204: call.withdrawn.insert(draft)
            case 409: call.accepted = draft
            default: call.maybe.insert(draft)
            }
        default: call.maybe.insert(draft)
        }
        return call
    }

    private func post(_ event: Int, step: Int) async -> (isAccepted: Bool, id: String?) {
        let answer = try? await caller(event % 2)?(
            "POST", "/v1/events/match-\(event)/broadcasts",
            #"{"event": "update", "contentState": {"event": \#(event), "step": \#(step)}}"#)
        return (answer?.status == 202, answer?.json["id"]?.string)
    }

    func killServer(_ replica: Int) {
        let server = servers.withLock { servers in
            defer { servers[replica] = nil }
            return servers[replica]
        }
        server?.kill9()
    }

    func killConnections() async {
        let pool = PostgresPool(
            configuration: PostgresConfiguration(connectionString: environment["DATABASE_URL"] ?? ""),
            logger: Stage.logger)
        _ = try? await pool.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null"
        )
        await pool.close()
    }

    /// SIGQUIT: an immediate stop, nothing is written. A supervisor starts the database again at once.
    func killDatabase() async {
        let text = (try? String(contentsOfFile: postmasterFile, encoding: .utf8)) ?? ""
        guard let pid = text.split(separator: "\n").first.flatMap({ pid_t($0) }) else { return }
        Foundation.kill(pid, SIGQUIT)
        try? await reviveDatabase()
    }

    /// Starts again what was killed; returns once everything answers.
    func revive() async throws {
        try await reviveDatabase()
        for replica in 0..<2 where servers.withLock({ $0[replica] }) == nil {
            let server = try await ServerProcess.start(environment, wallLead: KillWorld.lead(of: replica))
            servers.withLock { $0[replica] = server }
        }
    }

    private func reviveDatabase() async throws {
        _ = try await until("PostgreSQL answers", within: .seconds(60)) {
            _ = try await cluster.start()
            let pool = PostgresPool(
                configuration: PostgresConfiguration(connectionString: environment["DATABASE_URL"] ?? ""),
                logger: Stage.logger)
            let rows = try? await pool.query("select 1")
            await pool.close()
            return rows
        }
    }

    /// What Apple accepted, in the order it came.
    func broadcasts() -> [Message] {
        simulator.journal().compactMap { entry in
            guard entry.request.isBroadcast, entry.status == 200,
                let timestamp = entry.request.timestamp, case let state = entry.request.json["aps"]?["content-state"],
                let event = state?["event"]?.int, let step = state?["step"]?.int
            else { return nil }
            return Message(timestamp: timestamp, event: event, step: step)
        }
    }

    func stop() { for replica in 0..<2 { killServer(replica) } }
}
