internal import APNsWire
internal import FoundationEssentials

/// All devices, and the channels that each listens to.
struct Devices: Sendable {
    /// The owner of a token.
    struct Address: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case start
            case update(activity: Int)
        }

        var device: String
        /// The bundle ID in lower case.
        var app: String
        var kind: Kind
        /// Why the token is no longer valid, and since when.
        var gone: Gone?

        struct Gone: Sendable, Hashable {
            /// `Unregistered` or `ExpiredToken`.
            var reason: APNsReason
            var since: Date
        }
    }

    /// The most devices.
    static let capacity = 100_000
    /// The most apps of one device, and the most bytes of a device's name or a bundle ID.
    static let appCapacity = 1_000
    static let longestName = 256

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
        for (app, token) in device.startTokens {
            tokens[token] = Address(device: device.id, app: app, kind: .start)
        }
        version += 1
    }

    /// Increases the version, because the clock was moved and lock screens may have changed.
    mutating func touch() { version += 1 }

    mutating func remove(_ id: String) -> Bool {
        guard let device = byID.removeValue(forKey: id) else { return false }
        tokens = tokens.filter { $0.value.device != id }
        for activity in device.activities { stopListening(device, activity) }
        version += 1
        return true
    }

    /// Changes a device in place.
    mutating func change<Result>(_ id: String, _ body: (inout Device) -> Result) -> Result? {
        guard byID[id] != nil else { return nil }
        version += 1
        return byID[id].map { device in
            var device = device
            // Remove the dictionary's value first. Otherwise the dictionary and `device` would share storage, and the
            // change would copy it.
            byID[id] = nil
            defer { byID[id] = device }
            return body(&device)
        }
    }

    /// Marks a token as no longer valid.
    mutating func retire(_ token: String, _ reason: APNsReason, now: Date) -> Bool {
        guard tokens[token] != nil else { return false }
        tokens[token]?.gone = .init(reason: reason, since: now)
        version += 1
        return true
    }

    /// Puts an activity on a device.
    mutating func start(_ activity: Activity, on id: String, now: Date) {
        guard
            let device = change(
                id,
                { device in
                    device.add(activity)
                    device.log("activity \(activity.number): started for \(activity.app)", now: now)
                    return device
                })
        else { return }
        listen(device, activity)
    }

    /// Gives an activity its own push token.
    mutating func giveToken(_ token: String, toActivity number: Int, on id: String) {
        let app = change(id) { device -> String? in
            guard let index = device.activities.firstIndex(where: { $0.number == number }) else { return nil }
            device.activities[index].updateToken = token
            return device.activities[index].app
        }
        guard let app = app ?? nil else { return }
        tokens[token] = Address(device: id, app: app, kind: .update(activity: number))
    }

    private mutating func listen(_ device: Device, _ activity: Activity) {
        if let key = Self.channel(device, activity) { listeners[key, default: []].insert(device.id) }
        if let token = activity.updateToken {
            tokens[token] = Address(device: device.id, app: activity.app, kind: .update(activity: activity.number))
        }
    }

    private mutating func stopListening(_ device: Device, _ activity: Activity) {
        guard let key = Self.channel(device, activity) else { return }
        listeners[key]?.remove(device.id)
        if listeners[key]?.isEmpty == true { listeners[key] = nil }
    }

    private static func channel(_ device: Device, _ activity: Activity) -> SimulatorState.ChannelKey? {
        activity.channelID.map {
            .init(app: .init(name: activity.app, environment: device.environment), id: $0)
        }
    }

    // MARK: Delivery

    /// Sends a message to every device that listens and is online. Others get the stored message when they return.
    mutating func broadcast(_ body: [UInt8], on channel: SimulatorState.ChannelKey, now: Date) {
        guard let push = LivePush(body) else { return }
        for id in listeners[channel, default: []].sorted() where byID[id]?.isOnline == true {
            deliver(push, on: channel, to: id, now: now)
        }
    }

    mutating func deliver(_ push: LivePush, on channel: SimulatorState.ChannelKey, to id: String, now: Date) {
        _ = change(id) { device in
            device.apply(push, now: now) { $0.channelID == channel.id && $0.app == channel.app.name }
        }
    }

    /// The channels a device listens to.
    func channels(of id: String) -> Set<SimulatorState.ChannelKey> {
        guard let device = byID[id] else { return [] }
        return Set(device.activities.compactMap { Self.channel(device, $0) })
    }
}
