internal import APNsWire
internal import Cryptography
internal import Foundation

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

    static func withChannels() throws -> Bench {
        var bench = try Bench()
        bench.none = try bench.create(policy: 0)
        bench.stored = try bench.create(policy: 1)
        bench.deleted = try bench.create(policy: 1)
        _ = try bench.send("DELETE", "/1/apps/\(bundleID)/channels", ["apns-channel-id": bench.deleted])
        return bench
    }

    /// Sends a request with a valid token, unless `headers` has another `authorization`. An empty value removes a
    /// header.
    mutating func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:], _ body: String = "",
        in environment: APNsEnvironment = .development, at now: Double = Bench.now, by sender: Provider? = nil,
        postponing: Bool = false
    ) throws -> SimulatorAnswer {
        let token = try (sender ?? provider).token(at: now)
        let request = request(method, path, headers, body, in: environment, token: token)
        return state.handle(request, postponing: postponing, now: now)
    }

    func request(
        _ method: String, _ path: String, _ headers: [String: String], _ body: String,
        in environment: APNsEnvironment = .development, token: String
    ) -> SimulatorRequest {
        let all = ["authorization": "bearer \(token)"].merging(headers) { $1 }
        let fields = all.filter { $0.value != "" }.sorted { $0.key < $1.key }
        return SimulatorRequest(
            environment: environment, connectionID: connection, method: method, path: path,
            headers: fields.map { .init($0.key, $0.value) }, body: Array(body.utf8))
    }

    func channels(of bundleID: String = Bench.bundleID) -> [SimulatedChannel] {
        state.apps[.init(bundleID, .development)]?.sorted ?? []
    }

    mutating func create(
        policy: Int, of bundleID: String = Bench.bundleID, in environment: APNsEnvironment = .development
    ) throws -> String {
        let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
        let answer = try send("POST", "/1/apps/\(bundleID)/channels", [:], body, in: environment)
        return answer[header: "apns-channel-id"] ?? ""
    }

    /// Sends a broadcast that is valid except for the changes in `headers`.
    mutating func broadcast(
        on channel: String, _ headers: [String: String] = [:], _ body: String = Bench.update,
        of bundleID: String = Bench.bundleID, at now: Double = Bench.now, postponing: Bool = false
    ) throws -> SimulatorAnswer {
        let usual = [
            "apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-expiration": "0", "apns-priority": "5",
        ]
        return try send(
            "POST", "/4/broadcasts/apps/\(bundleID)", usual.merging(headers) { $1 }, body, at: now,
            postponing: postponing)
    }
}

/// A provider with its own key. It signs valid and invalid tokens.
struct Provider: Sendable {
    var keyID: String
    var teamID: String
    private let key: PrivateKey

    init(keyID: String = "TESTKEY001", teamID: String = "TESTTEAM01") {
        self.keyID = keyID
        self.teamID = teamID
        guard let key = try? PrivateKey.p256() else { preconditionFailure("no key") }
        self.key = key
    }

    /// A provider with the key of a `.p8` file.
    init(keyID: String, teamID: String, file: String) throws {
        self.keyID = keyID
        self.teamID = teamID
        key = try PrivateKey.p256(pem: readFile(file))
    }

    func registered() -> ProviderKey {
        ProviderKey(keyID: keyID, teamID: teamID, key: key)
    }

    /// A valid token, issued at this time in seconds since 1970.
    func token(at seconds: Double) throws -> String {
        try token(
            header: #"{"alg":"ES256","kid":"\#(keyID)"}"#,
            claims: #"{"iss":"\#(teamID)","iat":\#(Int(seconds))}"#)
    }

    /// A token with any content, signed with the provider's key.
    func token(header: String, claims: String) throws -> String {
        let signed = "\(Self.encode(Data(header.utf8))).\(Self.encode(Data(claims.utf8)))"
        return "\(signed).\(Self.encode(Data(try key.signature(of: Array(signed.utf8)))))"
    }

    private static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// A channel and some phones. Seconds are relative to the bench's time.
struct PhoneStage {
    static let epoch = Int(Bench.now)

    var bench: Bench
    let channel: String

    init(policy: Int = 0, follower: String? = nil) throws {
        bench = try Bench()
        channel = try bench.create(policy: policy)
        if let follower { try follow(follower) }
    }

    /// - Returns: the phone's push-to-start token.
    @discardableResult
    mutating func addPhone(
        _ id: String, in environment: APNsEnvironment = .development, system: Int = 18
    ) throws -> String {
        try bench.state.addDevice(
            id, in: environment, system: system, bundleIDs: [Bench.bundleID], now: Bench.now
        ).startTokens[Bench.bundleID] ?? ""
    }

    /// Adds a phone that follows the channel.
    mutating func follow(_ id: String, at seconds: Double = 0) throws {
        try addPhone(id)
        let activity = Activity(
            bundleID: Bench.bundleID, attributesType: "Match", contentState: .init(Array(#"{"n":0}"#.utf8)),
            channelID: channel)
        _ = try bench.state.startActivity(activity, on: id, now: Bench.now + seconds)
    }

    /// Broadcasts this content state, or `{"n": …}`.
    mutating func send(
        _ number: Int = 0, state: String? = nil, at seconds: Double, timestamp: Int? = nil, event: String = "update",
        expiresIn: Int = 0, extra: String = "", postponing: Bool = false
    ) throws {
        let stamp = Self.epoch + (timestamp ?? Int(seconds))
        let state = state ?? #"{"n":\#(number)}"#
        let body = #"{"aps":{"timestamp":\#(stamp),"event":"\#(event)","content-state":\#(state)\#(extra)}}"#
        let expiration = expiresIn == 0 ? 0 : Self.epoch + Int(seconds) + expiresIn
        let answer = try bench.broadcast(
            on: channel, ["apns-expiration": "\(expiration)"], body, at: Bench.now + seconds, postponing: postponing)
        guard answer.status == 200 else { throw SimulatorError("\(answer.status) \(answer.reason?.rawValue ?? "")") }
    }

    mutating func setOnline(_ isOnline: Bool, _ id: String, at seconds: Double) {
        bench.state.setOnline(isOnline, device: id, now: Bench.now + seconds)
    }

    /// The content states on a lock screen.
    func shown(_ id: String, at seconds: Double = 12) -> [String] {
        (bench.state.devices.byID[id]?.lockScreen(at: Bench.now + seconds) ?? []).map {
            $0.contentState.text
        }
    }

    func states(_ id: String, at seconds: Double) -> [Activity.State] {
        (bench.state.devices.byID[id]?.lockScreen(at: Bench.now + seconds) ?? []).map(\.state)
    }

    func events(_ id: String) -> [String] { (bench.state.devices.byID[id]?.events ?? []).map(\.text) }
}

extension Bench {
    /// Sends a device push that is valid except for the changes in `headers`.
    mutating func push(
        to token: String, _ body: String, _ headers: [String: String] = [:],
        in environment: APNsEnvironment = .development
    ) throws -> SimulatorAnswer {
        let usual = [
            "apns-topic": "\(Bench.bundleID).push-type.liveactivity", "apns-push-type": "liveactivity",
        ]
        return try send("POST", "/3/device/\(token)", usual.merging(headers) { $1 }, body, in: environment)
    }
}
