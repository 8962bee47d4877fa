internal import APNsSimulator
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandClient
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandCommand

/// Two replicas on a PostgreSQL that can be killed, and the events that the replicas serve.
final class Stadium: Sendable {
    private let environment: [String: String]
    private let cluster: PostgresCluster
    private let secret: String
    private let matches: [GrandstandClient.Call<GrandstandClient.Event>]
    private let replicas = Mutex<[(server: ChildProcess, client: GrandstandClient)?]>([nil, nil])

    init(environment: [String: String], cluster: PostgresCluster, secret: String, events: Int) {
        self.environment = environment
        self.cluster = cluster
        self.secret = secret
        matches = (0..<events).map { Self.declaration("match-\($0)") }
    }

    private static func declaration(_ key: String) -> GrandstandClient.Call<GrandstandClient.Event> {
        let audience = GrandstandClient.Audience(
            bundleId: Stage.bundleID, environment: .production, storagePolicy: .mostRecentMessageStored)
        return .putEvent(key, .init(name: "Match", audiences: [audience]))
    }

    /// Every third match has a feed that puts its state, and repeats it until a replica answers.
    static func isFed(_ event: Int) -> Bool { event.isMultiple(of: 3) }

    private static let contentType = #"""
        {"check": "refuse",
         "versions": [{"name": "1.0", "schema": {"properties": {"goals": {"type": "integer"}}}}],
         "rules": {"rings": [{"when": {"increases": "/goals"}, "alert": {"title": "Goal", "body": "{goals}"}}]}}
        """#

    /// Makes calls at the replicas that are running.
    var organiser: Organiser { Organiser { [self] in replicas.withLock { $0.compactMap { $0?.client } } } }

    /// Starts both replicas and opens the events.
    func open() async throws {
        try await revive()
        try await organiser.putApp(Stage.bundleID, name: "Stadium")
        if matches.indices.contains(where: Self.isFed) {
            try await organiser.send(
                .putContent("Match", of: Stage.bundleID, json: try RawJSON(json: Self.contentType)))
        }
        try await inParallel(matches, atMost: 16) { [organiser] match in try await organiser.send(match) }
        try await until("every event has its channel") { try await channels().count >= matches.count }
    }

    /// Declares events during a kill, while their channels are being created. Whether a declaration succeeded is not
    /// known before `settleNewcomers`.
    func declareNewcomers(round: Int) async {
        for n in 0..<Self.newcomers {
            _ = await organiser.attempt(Self.declaration("late-\(round)-\(n)"), turn: n)
        }
    }

    /// Events declared in each round.
    private static let newcomers = 3

    /// Declares all newcomers again, and waits for their channels.
    func settleNewcomers(rounds: Int) async throws {
        for round in 1...rounds {
            for n in 0..<Self.newcomers { try await organiser.send(Self.declaration("late-\(round)-\(n)")) }
        }
        try await until("every newcomer has its channel") {
            try await channels().count >= matches.count + rounds * Self.newcomers
        }
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

    /// Queries the database directly, without a server.
    func rows(_ query: PostgresQuery) async throws -> PostgresRows {
        try await Stage.onDatabase(of: environment) { try await $0.query(query) }
    }

    func caller(_ replica: Int) -> HTTPCaller? {
        replicas.withLock { $0[replica]?.server.url }.map { HTTPCaller(url: $0, secret: secret) }
    }

    /// Sends an event's next state. In some rounds it also sends a draft and withdraws it.
    func update(_ event: Int, round: Int) async -> KillCalls.Call {
        var call = KillCalls.Call(event: event)
        let step = 2 * round
        if Self.isFed(event) {
            if await tell(event, round: round) { call.accepted = step } else { call.maybe.insert(step) }
            return call
        }
        if await post(event, step: step) != nil { call.accepted = step } else { call.maybe.insert(step) }
        guard (event + round).isMultiple(of: 5) else { return call }
        let draft = step + 1
        guard let id = await post(event, step: draft) else {
            call.maybe.insert(draft)
            return call
        }
        switch await attempt(.cancelBroadcast(id), of: event) {
        case .success: call.withdrawn.insert(draft)
        case .failure(let problem) where problem.status == 409: call.accepted = draft
        default: call.maybe.insert(draft)
        }
        return call
    }

    /// Puts an event's next state at one replica after the other, until a replica accepts or finally refuses the state.
    /// Every second state has a new goal.
    ///
    /// - Returns: whether the state was accepted.
    private func tell(_ event: Int, round: Int) async -> Bool {
        let content = #"{"\#(Mark.member)": [\#(event), \#(2 * round)], "goals": \#(round / 2)}"#
        guard let content = try? RawJSON(json: content) else { return false }
        let decision = try? await organiser.decide(
            .putState("match-\(event)", .init(contentState: content, sequence: round)), first: event)
        return (try? decision?.get()) != nil
    }

    /// - Returns: the broadcast's ID, if it was accepted.
    private func post(_ event: Int, step: Int) async -> String? {
        guard let content = try? Mark.content(event, step) else { return nil }
        return try? await attempt(
            .broadcast(to: "match-\(event)", .init(event: .update, contentState: content)), of: event)?.get().id
    }

    /// Makes a call once, at the replica that serves the event (`event % 2`), if this replica is running.
    private func attempt<Value>(
        _ call: GrandstandClient.Call<Value>, of event: Int
    ) async -> Result<GrandstandClient.Reply<Value>, ServerProblem>? {
        let client = replicas.withLock { $0[event % 2]?.client }
        return await Organiser { client.map { [$0] } ?? [] }.attempt(call)
    }

    func killServer(_ replica: Int) async {
        let server = replicas.withLock { replicas in
            defer { replicas[replica] = nil }
            return replicas[replica]?.server
        }
        await server?.kill()
    }

    /// Ends all connections but its own.
    static let cutting: PostgresQuery =
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null"

    func killConnections() async { _ = try? await rows(Self.cutting) }

    /// Kills PostgreSQL as a power cut would, and starts it again at once, as a supervisor would.
    func killDatabase() async {
        await cluster.kill()
        _ = try? await cluster.start()
    }

    /// Starts again what was killed; returns once everything answers. The clocks of the replicas are 20 s apart.
    func revive() async throws {
        _ = try await cluster.start()
        for replica in 0..<2 where replicas.withLock({ $0[replica] == nil }) {
            let server = try await ChildProcess.server(environment, wallLead: [-10, 10][replica])
            let url = try #require(URL(string: server.url))
            let client = GrandstandClient.once(url, key: secret, timeout: 30)
            replicas.withLock { $0[replica] = (server, client) }
        }
    }

    func stop() async { for replica in 0..<2 { await killServer(replica) } }
}

extension Stadium {
    /// What is killed, and how.
    enum Kill: String, CaseIterable {
        /// A server is killed with SIGKILL, and another server is started.
        case server
        /// Every connection to PostgreSQL is ended.
        case connections
        /// PostgreSQL ends as in a power cut, and is started again.
        case database

        static func any(_ random: inout SplitMix) -> Kill { allCases[random.next(below: allCases.count)] }
    }

    /// - Parameter victim: which server.
    func perform(_ kill: Kill, on victim: Int) async {
        switch kill {
        case .server: await killServer(victim)
        case .connections: await killConnections()
        case .database: await killDatabase()
        }
    }

    /// Runs `body` with a simulator, a PostgreSQL and the settings of two replicas, and stops everything afterwards.
    static func with(
        events: Int, settings: [String: String] = [:], _ body: (Stadium, Simulator) async throws -> Void
    ) async throws {
        let settings = settings.merging(["GRANDSTAND_RECONCILE_INTERVAL": "0"]) { $1 }
        try await Stage.onCluster(settings: settings, durable: true, options: { $0.quirks.capitals = .accepted }) {
            cluster, environment, simulator in
            let stadium = Stadium(
                environment: environment, cluster: cluster, secret: try await Stage.secret(environment), events: events)
            try await ending(with: { await stadium.stop() }) { try await body(stadium, simulator) }
        }
    }
}

/// What a long test takes from the environment, and how it prints what it did.
enum Drill {
    static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

    /// The seed in this variable, or a random one.
    static func seed(_ name: String) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
    }

    static func text<Kind: RawRepresentable<String>>(_ tally: [Kind: Int]) -> String {
        tally.map { "\($1) x \($0.rawValue)" }.sorted().joined(separator: ", ")
    }
}

/// The calls of a run and their answers. Each message of an event has a step, a number that rises. A round has two
/// steps for each event: one for an update, and one for a draft that is to be withdrawn.
struct KillCalls {
    /// The outcome of one event's calls in a round.
    struct Call: Sendable {
        var event: Int
        /// The newest step that was answered with 202 and not withdrawn; `nil`: none.
        var accepted: Int?
        /// Steps with a call that failed or got no answer: they may have been accepted, or withdrawn.
        var maybe: Set<Int> = []
        /// Steps that were withdrawn: 204.
        var withdrawn: Set<Int> = []
    }

    /// The newest step of each event that was answered with 202.
    private var newest: [Int]
    private var maybe: [Set<Int>]
    private(set) var withdrawn: [Set<Int>]
    private(set) var accepted = 0
    private(set) var unanswered = 0

    init(events: Int) {
        newest = [Int](repeating: 0, count: events)
        maybe = [Set<Int>](repeating: [], count: events)
        withdrawn = maybe
    }

    mutating func note(_ call: Call) {
        if let step = call.accepted {
            newest[call.event] = max(newest[call.event], step)
            accepted += 1
        }
        maybe[call.event].formUnion(call.maybe)
        unanswered += call.maybe.count
        withdrawn[call.event].formUnion(call.withdrawn)
    }

    /// Whether the last message of every event is its newest step, or a later one that may have been accepted.
    func areMet(by arrivals: [Arrival]) -> Bool {
        var last = [Int](repeating: 0, count: newest.count)
        for arrival in arrivals { last[arrival.match] = arrival.number }
        return newest.indices.allSatisfy { event in
            last[event] == newest[event] || last[event] > newest[event] && maybe[event].contains(last[event])
        }
    }

    var withdrawals: Int { withdrawn.reduce(0) { $0 + $1.count } }
}
