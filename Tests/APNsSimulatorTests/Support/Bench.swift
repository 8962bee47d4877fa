internal import APNsWire

@testable internal import APNsSimulator

/// A simulator's state with one app, and a clock that does not move.
struct Bench {
    static let bundleID = "com.example.scores"
    static let now = 1_780_000_000.0
    static let update = #"{"aps":{"timestamp":1780000000,"event":"update","content-state":{"home":1,"away":0}}}"#

    let provider = Provider()
    var state: SimulatorState
    /// The number of the connection that requests use. A connection that was not opened has no state in the simulator.
    var connection = 0
    /// The IDs of a channel that stores nothing, one that stores messages, and a deleted one.
    private(set) var none = ""
    private(set) var stored = ""
    private(set) var deleted = ""

    init() throws { state = SimulatorState(keys: [provider.registered()], seed: 1) }

    mutating func addChannels() throws {
        none = try create(policy: 0)
        stored = try create(policy: 1)
        deleted = try create(policy: 1)
        _ = try send("DELETE", "/1/apps/\(Self.bundleID)/channels", ["apns-channel-id": deleted])
    }

    /// Sends a request with a valid token, unless `headers` has another `authorization`. An empty value removes a
    /// header.
    mutating func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:], _ body: String = "",
        in environment: APNsEnvironment = .development, at now: Double = Bench.now, by sender: Provider? = nil,
        postponing: Bool = false
    ) throws -> SimulatorAnswer {
        let token = try (sender ?? provider).token(at: now)
        let all = ["authorization": "bearer \(token)"].merging(headers) { $1 }
        let fields = all.filter { $0.value != "" }.sorted { $0.key < $1.key }
        let request = SimulatorRequest(
            environment: environment, connection: connection, method: method, path: path,
            headers: fields.map { .init($0.key, $0.value) },
            body: Array(body.utf8))
        return state.handle(request, postponing: postponing, now: now)
    }

    func channels(of bundleID: String = Bench.bundleID) -> [SimulatedChannel] {
        state.apps[.init(bundleID, .development)]?.sorted ?? []
    }

    mutating func create(
        policy: Int, of bundleID: String = Bench.bundleID, in environment: APNsEnvironment = .development,
        at now: Double = Bench.now
    ) throws -> String {
        let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
        return try send("POST", "/1/apps/\(bundleID)/channels", [:], body, in: environment, at: now)[
            header: "apns-channel-id"] ?? ""
    }

    /// Sends a broadcast that is valid except for the changes in `headers`.
    mutating func broadcast(
        on channel: String, _ headers: [String: String] = [:], _ body: String = Bench.update,
        of bundleID: String = Bench.bundleID, in environment: APNsEnvironment = .development,
        at now: Double = Bench.now, postponing: Bool = false
    ) throws -> SimulatorAnswer {
        let usual = [
            "apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-expiration": "0", "apns-priority": "5",
        ]
        return try send(
            "POST", "/4/broadcasts/apps/\(bundleID)", usual.merging(headers) { $1 }, body, in: environment, at: now,
            postponing: postponing)
    }
}
