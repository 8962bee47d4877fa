internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

@testable internal import GrandstandServer

/// An organiser's backend. It calls whichever server answers, and repeats each call until a server decides it: the
/// server accepts or finally refuses the call.
///
/// A repetition is the same call: a POST has the same `Idempotency-Key`, so the repetition has no second effect.
struct Organiser: Sendable {
    typealias Answer<Value> = Result<GrandstandClient.Reply<Value>, ServerProblem>

    /// The clients of the servers that exist now. A client should not repeat requests itself (`GrandstandClient.once`).
    let clients: @Sendable () -> [GrandstandClient]

    /// Makes a call once.
    ///
    /// - Parameter turn: chooses the server: its index is `turn` modulo the number of servers.
    /// - Returns: `nil` without an answer. The server may have processed the call.
    func attempt<Value>(_ call: GrandstandClient.Call<Value>, turn: Int = 0) async -> Answer<Value>? {
        let clients = clients()
        guard !clients.isEmpty else { return nil }
        do {
            return .success(try await clients[turn % clients.count].reply(to: call))
        } catch {
            return (error as? ServerProblem).map { .failure($0) }
        }
    }

    /// Repeats a call, each time at the next server, until one decides it.
    func decide<Value>(_ call: GrandstandClient.Call<Value>, first: Int = 0) async throws -> Answer<Value> {
        var turn = first
        return try await until("\(call.operation.method) \(call.path) was decided", within: .seconds(120)) {
            let result = await attempt(call, turn: turn)
            turn += 1
            // The server cannot act now, or still processes the first copy of the call.
            if case .failure(let problem)? = result,
                problem.status >= 500 || problem.status == 429 || problem.kind == .idempotencyInProgress
            {
                return nil
            }
            return result
        }
    }

    /// Repeats a call until a server decides it. The call must succeed.
    ///
    /// - Throws: the errors of `decide`, and the server's refusal.
    @discardableResult
    func send<Value>(_ call: GrandstandClient.Call<Value>) async throws -> Value {
        try await decide(call).get().value
    }

    // MARK: Steps of a match

    /// Registers an app whose key the simulator knows.
    func putApp(_ bundleID: String, name: String) async throws {
        let (team, key) = (SimulatorIdentity.teamID, SimulatorIdentity.keyID)
        try await send(.putApp(bundleID, .init(name: name, teamId: team, keyId: key)))
    }

    /// Waits until every audience of an event has its channel.
    func channels(of key: String) async throws {
        try await until("the channels of \(key)", within: .seconds(120)) {
            try await send(.getEvent(key)).audiences.allSatisfy { $0.channel.state == .active }
        }
    }

    /// Waits until all deliveries of a broadcast are settled.
    func settled(_ id: String) async throws {
        try await until("the end of broadcast \(id)", within: .seconds(120)) {
            [.done, .cancelled].contains(try await send(.getBroadcast(id)).state)
        }
    }
}

extension GrandstandClient {
    /// A client of a server on this machine. The client makes each request only once.
    static func once(_ server: URL, key: String?, timeout: TimeInterval = 15) -> GrandstandClient {
        GrandstandClient(server: server, key: key, retry: .never, timeout: timeout)
    }
}

/// The member of a content state that identifies its message at the simulator: `[match, number]`.
enum Mark {
    static let member = "mark"

    /// A content state with only this member.
    static func content(_ match: Int, _ number: Int) throws -> RawJSON {
        try RawJSON(json: #"{"\#(member)": [\#(match), \#(number)]}"#)
    }
}

/// A marked message that the simulator accepted.
struct Arrival: Sendable {
    let channelID: String
    let timestamp: Int
    let match: Int
    let number: Int
    /// The body of the message's alert.
    let alert: String?

    init?(_ entry: JournalEntry) {
        let aps = entry.request.json["aps"]
        let mark = aps?["content-state"]?[Mark.member]
        guard entry.operation == .broadcast, entry.status == 200,
            let channelID = entry.request[header: APNsHeader.channelID], let timestamp = aps?["timestamp"]?.int,
            let match = mark?[0]?.int, let number = mark?[1]?.int
        else { return nil }
        self.channelID = channelID
        self.timestamp = timestamp
        (self.match, self.number) = (match, number)
        alert = aps?["alert"]?["body"]?.string
    }
}

extension Simulator {
    /// The marked messages that the simulator accepted, in order.
    var arrivals: [Arrival] { journal().compactMap(Arrival.init) }
}

extension [Arrival] {
    /// Texts about messages whose timestamp or number is not higher than the timestamp or number of the previous
    /// message on the same channel. A number that was sent with the alert of an earlier message is sent again by itself.
    ///
    /// - Parameter numbersRise: `false` if the end of an activity may be taken back: then an earlier state, with a
    ///   lower number, is sent again.
    func backwards(numbersRise: Bool = true) -> [String] {
        var last: [String: Arrival] = [:]
        return compactMap { arrival in
            let before = last.updateValue(arrival, forKey: arrival.channelID)
            // A message whose answer was lost is repeated unchanged.
            guard let before, (arrival.timestamp, arrival.number) != (before.timestamp, before.number),
                arrival.timestamp <= before.timestamp
                    || numbersRise && arrival.number < before.number + (before.alert == nil ? 1 : 0)
            else { return nil }
            return "match \(arrival.match): message \(arrival.number) at \(arrival.timestamp) after "
                + "\(before.number) at \(before.timestamp)"
        }
    }
}

/// Another system with a key of the same team, such as Apple's own console or an old script. The ledger does not know
/// what this system does.
struct AppleConsole: Sendable {
    private let client: APNsClient
    private let address: APNsAddress

    /// Runs `body` with a console for one app and environment of the simulator.
    static func with<Result>(
        _ simulator: Simulator, _ environment: APNsEnvironment = .development,
        _ body: (AppleConsole) async throws -> Result
    ) async throws -> Result {
        let addresses = try #require(simulator.addresses)
        var hosts: [APNsEnvironment: Endpoint] = [:]
        for environment in APNsEnvironment.allCases {
            hosts[environment] = Endpoint(url: addresses.url(environment))
        }
        var settings = APNsClient.Settings(endpoints: Endpoints(send: hosts, manage: hosts))
        settings.trustRoots = .file(addresses.caFile)
        let keys = KeyRing(directory: (addresses.p8File as NSString).deletingLastPathComponent)
        let client = APNsClient(settings: settings, keys: keys, now: { Date() }, logger: Stage.logger)
        let address = APNsAddress(
            bundleID: try #require(BundleID(rawValue: Stage.bundleID)), environment: environment,
            credentials: Credentials(teamID: SimulatorIdentity.teamID, keyID: SimulatorIdentity.keyID),
            managementPath: .lowercased)
        return try await ending(with: { await client.close() }) {
            try await body(AppleConsole(client: client, address: address))
        }
    }

    /// Creates a channel; returns its ID.
    @discardableResult
    func create(_ policy: StoragePolicy = .noMessageStored) async throws -> String {
        try Self.value(await client.createChannel(policy, at: address))
    }

    /// Deletes a channel without the ledger's knowledge.
    func delete(_ channelID: String) async throws {
        try Self.value(await client.deleteChannel(channelID, at: address))
    }

    private static func value<Value>(_ answer: APNsAnswer<Value>) throws -> Value {
        guard case .accepted(let value, _) = answer else { throw NeverHappened(what: "accepted; instead: \(answer)") }
        return value
    }
}

/// Somebody else's system with a key of the same team: it makes channels of its own on the app, and deletes some of
/// them.
actor ForeignSystem {
    private let console: AppleConsole
    /// All channels that this system created.
    private(set) var made: Set<String> = []
    /// The channels that this system created and has not deleted.
    private(set) var kept: [String] = []
    private var isBusy = false

    init(_ console: AppleConsole) { self.console = console }

    /// Creates two channels, and deletes the oldest if there are more than eight. Does nothing while a turn is under way.
    func turn() async {
        guard !isBusy else { return }
        isBusy = true
        await #expect(throws: Never.self) {
            for _ in 0..<2 {
                let id = try await console.create(.mostRecentMessageStored)
                made.insert(id)
                kept.append(id)
            }
            if kept.count > 8 { try await console.delete(kept.removeFirst()) }
        }
        isBusy = false
    }
}
