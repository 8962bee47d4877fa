internal import APNsWire
internal import FoundationEssentials

/// Actions of people on their phones, and of their apps.
extension SimulatorState {
    /// Adds a device with some apps. From iOS 17 on, each app has a push-to-start token. Real devices have this token
    /// only from iOS 17.2 on, but `system` is only the major version.
    ///
    /// - Throws: if the name is taken or too long, or there are too many devices or apps.
    mutating func addDevice(
        _ id: String, in environment: APNsEnvironment, system: Int, bundleIDs: [String], now: Date
    ) throws(SimulatorError) -> Device {
        guard devices.byID[id] == nil else {
            throw SimulatorError("There is a device \"\(id)\" already: remove it first, or choose another name.")
        }
        guard devices.byID.count < Devices.capacity else {
            throw SimulatorError("There are \(Devices.capacity) devices already: remove some.")
        }
        guard id.utf8.count <= Devices.longestName, bundleIDs.count <= Devices.appCapacity,
            bundleIDs.allSatisfy({ $0.utf8.count <= Devices.longestName })
        else {
            throw SimulatorError(
                "A device has at most \(Devices.appCapacity) apps, and a name at most \(Devices.longestName) bytes."
            )
        }
        var device = Device(id: id, environment: environment, system: system)
        if system >= 17 {
            for bundleID in bundleIDs { device.startTokens[bundleID.lowercased()] = makeToken() }
        }
        device.log("made", now: now)
        devices.add(device)
        return device
    }

    /// Starts an activity in an app. It listens to a channel, or gets its own push token.
    ///
    /// - Throws: if the device does not exist or is too old for channels, if the channel does not exist, or if the data
    ///   are too large for ActivityKit (docs/internals/apns.md 3.2, C5).
    mutating func startActivity(
        _ start: ActivityStart, on id: String, now: Date
    ) throws(SimulatorError) -> Activity {
        guard let device = devices.byID[id] else {
            throw SimulatorError("There is no device \"\(id)\": add it first.")
        }
        guard start.channelID == nil || device.system >= 18 else {
            throw SimulatorError("Device \"\(id)\" has iOS \(device.system): channels need iOS 18.")
        }
        guard Activity.fits(start.attributes, start.contentState) else {
            throw SimulatorError("\(Activity.Drop.tooLarge.rawValue): the activity does not start.")
        }
        guard let activity = begin(start, on: device, now: now) else {
            throw SimulatorError(
                "\(start.bundleID) has no channel \(start.channelID ?? "") in \(device.environment.rawValue): "
                    + "the activity does not start.")
        }
        return activity
    }

    /// Takes a device online or offline. When it is back online, it gets the messages that APNs stored: one of each
    /// channel, and the newest push of each collapse ID.
    ///
    /// - Returns: whether the device exists.
    mutating func setOnline(_ isOnline: Bool, device id: String, now: Date) -> Bool {
        guard let wasOnline = devices.byID[id]?.isOnline else { return false }
        let waiting = devices.change(id) { device in
            device.isOnline = isOnline
            if wasOnline != isOnline { device.log(isOnline ? "online" : "offline", now: now) }
            defer { if isOnline { device.waiting = [] } }
            return isOnline ? device.waiting : []
        }
        guard isOnline, !wasOnline else { return true }
        for push in waiting ?? [] where push.expiresAt > now {
            if let address = devices.tokens[push.token] { deliver(push.body, to: address, now: now) }
        }
        for channel in devices.channels(of: id).sorted(by: { $0.id < $1.id }) {
            deliverStored(on: channel, to: id, now: now)
        }
        return true
    }

    /// Dismisses an activity, as if a person swiped it away.
    ///
    /// - Returns: whether the activity existed.
    mutating func dismiss(activity number: Int, on id: String, now: Date) -> Bool {
        return devices.change(id) { device in
            guard let index = device.activities.firstIndex(where: { $0.number == number }) else { return false }
            device.activities[index].isRemoved = true
            device.log("activity \(number): swiped away", now: now)
            return true
        } ?? false
    }

    /// Does what happens when a person allows an activity that a push started: the app gets a push token for the
    /// activity.
    ///
    /// - Returns: the token, which is the same in every call; `nil` if the activity does not exist, was dismissed, or
    ///   listens to a channel.
    mutating func allow(activity number: Int, on id: String, now: Date) -> String? {
        guard let activity = devices.byID[id]?.activities.first(where: { $0.number == number }),
            activity.channelID == nil, activity.state(at: now) != .dismissed
        else { return nil }
        if let token = activity.updateToken { return token }
        let token = makeToken()
        devices.giveToken(token, toActivity: number, on: id)
        return token
    }

    /// Makes a token invalid: the app was removed from the device (`Unregistered`), or the activity's token expired
    /// (`ExpiredToken`).
    ///
    /// - Returns: whether the token exists.
    mutating func retire(token: String, _ reason: APNsReason, now: Date) -> Bool {
        return devices.retire(token, reason, now: now)
    }

    /// Delivers the stored message of a channel, unless it has expired.
    mutating func deliverStored(on channel: ChannelKey, to id: String, now: Date) {
        guard let stored = apps[channel.app]?.channels[channel.id]?.stored, stored.expiresAt > now,
            let push = LivePush(stored.body)
        else { return }
        devices.deliver(push, on: channel, to: id, now: now)
    }

    /// - Returns: `nil` if the channel does not exist.
    mutating func begin(_ start: ActivityStart, on device: Device, now: Date) -> Activity? {
        let app = AppKey(name: start.bundleID.lowercased(), environment: device.environment)
        if let channelID = start.channelID, apps[app]?.channels[channelID] == nil { return nil }
        guard let number = devices.change(device.id, { $0.nextActivityNumber() }) else { return nil }
        let activity = Activity(
            number: number, app: app.name, attributesType: start.attributesType, attributes: start.attributes,
            startedAt: now, channelID: start.channelID,
            updateToken: start.wantsToken ? makeToken() : nil, contentState: start.contentState,
            timestamp: start.timestamp, alert: start.alert, staleDate: start.staleDate, relevance: start.relevance)
        devices.start(activity, on: device.id, now: now)
        return activity
    }

    /// 80 bytes in hex. Tokens of Live Activities are longer than the 32 bytes of other tokens, and clients must not
    /// rely on a length (docs/internals/apns.md 3.1).
    private mutating func makeToken() -> String {
        (0..<10).map { _ in
            let word = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }.joined()
    }
}

/// The initial state of an activity, started by a push or by its app.
struct ActivityStart: Sendable {
    var bundleID: String
    var attributesType: String
    /// JSON.
    var attributes: [UInt8] = Array("{}".utf8)
    /// JSON.
    var contentState: [UInt8]
    /// Seconds since 1970.
    var timestamp: Int
    var channelID: String?
    /// Whether the activity gets its own push token.
    var wantsToken = false
    var alert: [UInt8]?
    var staleDate: Date?
    var relevance: Double?
}
