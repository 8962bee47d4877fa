internal import APNsSimulator
internal import APNsWire
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

/// Whatever is killed in mid-flight: the newest state that was accepted arrives, and no channel's timestamp goes back.
///
/// The gate kills a few times; `GRANDSTAND_KILLS=100` is the long run, and `GRANDSTAND_KILLS_SEED` repeats its choices.
@Suite(.timeLimit(.minutes(15)))
struct KillTests {
    private static let kills = ProcessInfo.processInfo.environment["GRANDSTAND_KILLS"].flatMap(Int.init) ?? 6
    private static let seed =
        ProcessInfo.processInfo.environment["GRANDSTAND_KILLS_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: 0...UInt64.max)
    private static let events = 300

    /// What is done to whom.
    private enum Kill: String, CaseIterable {
        /// A server, with SIGKILL; another is started.
        case server
        /// Every connection to PostgreSQL.
        case connections
        /// PostgreSQL, as a power cut ends it; it is started again.
        case database
    }

    @Test func `three hundred events through two replicas, and kill after kill`() async throws {
        print("kills: \(Self.kills), GRANDSTAND_KILLS_SEED=\(Self.seed)")
        let folder = try TemporaryFolder()
        var options = SimulatorOptions(directory: folder.path + "/apns")
        options.capitals = .accepted
        options.journalCapacity = 1_000_000
        let simulator = Simulator(options: options, logger: Stage.logger)
        let addresses = try await simulator.start()
        let cluster = PostgresCluster(directory: folder.path + "/database", logger: Stage.logger)
        var environment = Stage.apns(addresses)
        environment["DATABASE_URL"] = try await Self.migrated(cluster)
        environment["GRANDSTAND_RECONCILE_INTERVAL"] = "0"
        let stadium = Stadium(
            environment: environment, cluster: cluster,
            postmasterFile: folder.path + "/database/postgres/postmaster.pid",
            simulator: simulator, secret: try await Stage.secret(environment), events: Self.events)
        do {
            print("kills: \(try await Self.kill(stadium))")
        } catch {
            stadium.stop()
            await cluster.stop()
            await simulator.stop()
            throw error
        }
        stadium.stop()
        await cluster.stop()
        await simulator.stop()
    }

    @Test func `what a killed replica had under way goes again through another within ten seconds, as it was`()
        async throws
    {
        try await Stage.place { environment, simulator in
            let secret = try await Stage.secret(environment)
            let first = try await ServerProcess.start(environment)
            let api = HTTPCaller(url: first.url, secret: secret)
            try await Stage.putApp(api)
            let audience = Stage.audience(.production, .mostRecentMessageStored)
            _ = try await api("PUT", "/v1/events/derby", #"{"name": "Derby", "audiences": [\#(audience)]}"#)
            _ = try await until("the event has its channel") {
                simulator.channels(of: Stage.bundleID, in: .production).isEmpty ? nil : true
            }
            let hold = simulator.hold { $0.isBroadcast }
            let body = #"{"event": "update", "contentState": {"n": 1}, "alert": {"title": "Goal"}}"#
            let answer = try await api("POST", "/v1/events/derby/broadcasts", body)
            #expect(answer.status == 202)
            let lost = try #require(try await simulator.requests(1) { $0.request.isBroadcast }.first)
            let second = try await ServerProcess.start(environment)
            let killed = ContinuousClock.now
            first.kill9()
            hold.release()
            let again = try await simulator.requests(2) { $0.request.isBroadcast }[1]
            #expect(killed.duration(to: .now) < .seconds(10))
            #expect(again.request.body == lost.request.body)
            #expect(again.request[header: "apns-request-id"] == lost.request[header: "apns-request-id"])
            second.kill9()
        }
    }

    private static func migrated(_ cluster: PostgresCluster) async throws -> String {
        let connectionString = try await cluster.start()
        let pool = PostgresPool(
            configuration: PostgresConfiguration(connectionString: connectionString), logger: Stage.logger)
        _ = try await Migrator(pool).migrate()
        await pool.close()
        return connectionString
    }

    private static func kill(_ stadium: Stadium) async throws -> String {
        try await stadium.open()
        var random = SplitMix(seed: seed)
        var tally: [Kill: Int] = [:]
        var calls = Calls(events: events)
        for round in 1...kills {
            let kill = Kill.allCases[random.next(below: Kill.allCases.count)]
            let (victim, moment) = (random.next(below: 2), random.next(below: events))
            tally[kill, default: 0] += 1
            await withTaskGroup(of: (event: Int, isAccepted: Bool).self) { group in
                for event in 0..<events {
                    if event == moment {
                        group.addTask {
                            switch kill {
                            case .server: stadium.killServer(victim)
                            case .connections: await stadium.killConnections()
                            case .database: await stadium.killDatabase()
                            }
                            return (-1, false)
                        }
                    }
                    if event >= 16, let call = await group.next() { calls.note(call, round: round) }
                    group.addTask { (event, await stadium.update(event, round: round)) }
                }
                for await call in group { calls.note(call, round: round) }
            }
            try await stadium.revive()
        }

        let sent = try await until("every newest state has arrived", within: .seconds(60)) {
            let sent = stadium.broadcasts()
            return calls.areMet(by: sent) ? sent : nil
        }
        var last: [Int: Int] = [:]
        var repeats = 0
        for message in sent {
            #expect(message.timestamp >= last[message.event] ?? 0, "match-\(message.event) went back in time")
            if message.timestamp == last[message.event] { repeats += 1 }
            last[message.event] = message.timestamp
        }
        let killed = tally.map { "\($1) x \($0.rawValue)" }.sorted().joined(separator: ", ")
        return "\(killed); \(calls.accepted) updates accepted, \(calls.unanswered) unanswered, \(sent.count) sent, "
            + "\(repeats) of them again with the same timestamp"
    }

    /// What was called for, and what was answered.
    private struct Calls {
        /// The newest round of each event that was answered with 202.
        var newest: [Int]
        /// Rounds whose call had another answer, or none: they may have been accepted.
        var maybe: [Set<Int>]
        var accepted = 0
        var unanswered = 0

        init(events: Int) {
            newest = [Int](repeating: 0, count: events)
            maybe = [Set<Int>](repeating: [], count: events)
        }

        mutating func note(_ call: (event: Int, isAccepted: Bool), round: Int) {
            guard call.event >= 0 else { return }
            if call.isAccepted {
                newest[call.event] = round
                accepted += 1
            } else {
                maybe[call.event].insert(round)
                unanswered += 1
            }
        }

        func areMet(by messages: [Stadium.Message]) -> Bool {
            var last = [Int](repeating: 0, count: newest.count)
            for message in messages { last[message.event] = message.round }
            return newest.indices.allSatisfy { event in
                last[event] == newest[event] || last[event] > newest[event] && maybe[event].contains(last[event])
            }
        }
    }
}

/// Two replicas on a PostgreSQL that can be killed, and the events they serve.
private final class Stadium: Sendable {
    /// A broadcast that Apple accepted.
    struct Message {
        let timestamp: Int
        let event: Int
        let round: Int
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
            simulator.channels(of: Stage.bundleID, in: .production).count >= events ? true : nil
        }
    }

    func caller(_ replica: Int) -> HTTPCaller? {
        servers.withLock { $0[replica] }.map { HTTPCaller(url: $0.url, secret: secret) }
    }

    /// - Returns: whether it was answered with 202.
    func update(_ event: Int, round: Int) async -> Bool {
        guard let caller = caller(event % 2) else { return false }
        let answer = try? await caller(
            "POST", "/v1/events/match-\(event)/broadcasts",
            #"{"event": "update", "contentState": {"event": \#(event), "round": \#(round)}}"#)
        return answer?.status == 202
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

    /// SIGQUIT: an immediate stop, nothing is written. Whoever looks after the database starts it again at once.
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
            let server = try await ServerProcess.start(environment)
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
                let event = state?["event"]?.int, let round = state?["round"]?.int
            else { return nil }
            return Message(timestamp: timestamp, event: event, round: round)
        }
    }

    func stop() { for replica in 0..<2 { killServer(replica) } }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) % UInt64(bound))
    }
}
