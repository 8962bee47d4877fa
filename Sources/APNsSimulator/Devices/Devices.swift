internal import APNsWire

/// All devices, and the channels that each listens to.
struct Devices: Sendable {
    /// The owner of a token.
    struct Address: Sendable, Hashable {
        var device: String
        /// The bundle ID in lower case.
        var app: String
        /// The number of the activity that the token updates; `nil`: the token starts activities.
        var activity: Int?
        /// The answer to pushes since the token is no longer valid: `Unregistered` or `ExpiredToken`.
        var gone: Refusal?
    }

    private(set) var byID: [String: Device] = [:]
    private(set) var tokens: [String: Address] = [:]
    private var listeners: [SimulatorState.ChannelKey: Set<String>] = [:]
    /// Grows with every change of a lock screen, except changes that only time causes.
    private(set) var version = 0

    var sorted: [Device] { byID.values.sorted { $0.id < $1.id } }

    func listens(to channel: SimulatorState.ChannelKey) -> Bool { listeners[channel] != nil }

    // MARK: Making and changing

    mutating func add(_ device: Device) {
        byID[device.id] = device
        for (app, token) in device.startTokens { tokens[token] = Address(device: device.id, app: app) }
        version += 1
    }

    /// Increases the version, because the clock was moved and lock screens may have changed.
    mutating func touch() { version += 1 }

    /// - Returns: whether the device existed.
    mutating func remove(_ id: String) -> Bool {
        guard let device = byID.removeValue(forKey: id) else { return false }
        tokens = tokens.filter { $0.value.device != id }
        for key in Self.channels(of: device) {
            listeners[key]?.remove(id)
            if listeners[key]?.isEmpty == true { listeners[key] = nil }
        }
        version += 1
        return true
    }

    /// Changes a device in place.
    @discardableResult
    mutating func change<Result>(_ id: String, _ body: (inout Device) -> Result) -> Result? {
        // Remove the dictionary's value first. Otherwise the dictionary and `device` would share storage, and the
        // change would copy it.
        guard var device = byID.removeValue(forKey: id) else { return nil }
        defer { byID[id] = device }
        version += 1
        return body(&device)
    }

    /// Marks a token as no longer valid.
    mutating func retire(_ token: String, _ gone: Refusal) -> Bool {
        guard let address = tokens[token] else { return false }
        tokens[token]?.gone = gone
        change(address.device) { device in device.goneTokens = Set(device.goneTokens + [token]).sorted() }
        return true
    }

    /// Puts an activity on a device.
    ///
    /// - Returns: the activity with its number; `nil`: there is no such device.
    mutating func start(_ activity: Activity, on id: String, now: Double) -> Activity? {
        guard let activity = change(id, { $0.start(activity, now: now) }), let device = byID[id] else { return nil }
        for key in Self.channels(of: device) { listeners[key, default: []].insert(id) }
        if let token = activity.updateToken { address(token, activity, on: id) }
        return activity
    }

    /// Gives an activity its own push token.
    mutating func giveToken(_ token: String, to activity: Activity, on id: String) {
        change(id) { device in
            for index in device.activities.indices where device.activities[index].number == activity.number {
                device.activities[index].updateToken = token
            }
        }
        address(token, activity, on: id)
    }

    private mutating func address(_ token: String, _ activity: Activity, on id: String) {
        tokens[token] = Address(device: id, app: activity.bundleID, activity: activity.number)
    }

    // MARK: Delivery

    /// Sends a message to every device that listens and is online. Others get the stored message when they return.
    mutating func broadcast(_ body: [UInt8], on channel: SimulatorState.ChannelKey, now: Double) {
        guard let push = LivePush(body) else { return }
        for id in listeners[channel, default: []].sorted() where byID[id]?.isOnline == true {
            deliver(push, on: channel, to: id, now: now)
        }
    }

    mutating func deliver(_ push: LivePush, on channel: SimulatorState.ChannelKey, to id: String, now: Double) {
        change(id) { device in
            device.apply(push, now: now) { $0.channelID == channel.id && $0.bundleID == channel.app.name }
        }
    }

    /// The channels a device listens to.
    static func channels(of device: Device) -> Set<SimulatorState.ChannelKey> {
        Set(
            device.activities.compactMap { activity in
                activity.channelID.map { .init(app: .init(activity.bundleID, device.environment), id: $0) }
            })
    }
}
