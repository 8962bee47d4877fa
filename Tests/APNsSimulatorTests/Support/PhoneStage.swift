internal import APNsWire

@testable internal import APNsSimulator

/// A channel and some phones. Seconds are relative to the bench's time.
struct PhoneStage {
    static let epoch = Int(Bench.now)

    var bench: Bench
    let channel: String

    init(policy: Int = 0) throws {
        bench = try Bench()
        channel = try bench.create(policy: policy)
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
