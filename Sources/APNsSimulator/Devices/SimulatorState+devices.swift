internal import APNsWire

/// Actions of people on their phones, and of their apps.
extension SimulatorState {
    /// Adds a device with some apps. From iOS 17 on, each app has a push-to-start token. Real devices have this token
    /// only from iOS 17.2 on, but `system` is only the major version.
    ///
    /// - Throws: if the name is taken.
    mutating func addDevice(
        _ id: String, in environment: APNsEnvironment, system: Int, bundleIDs: [String], now: Double
    ) throws(SimulatorError) -> Device {
        guard devices.byID[id] == nil else {
            throw SimulatorError("There is a device \"\(id)\" already: remove it first, or choose another name.")
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
        _ activity: Activity, wantsToken: Bool = false, on id: String, now: Double
    ) throws(SimulatorError) -> Activity {
        guard let device = devices.byID[id] else {
            throw SimulatorError("There is no device \"\(id)\": add it first.")
        }
        guard activity.channelID == nil || device.system >= 18 else {
            throw SimulatorError("Device \"\(id)\" has iOS \(device.system): channels need iOS 18.")
        }
        guard Activity.fits(activity.attributes, activity.contentState) else {
            throw SimulatorError("\(Activity.Drop.tooLarge.rawValue): the activity does not start.")
        }
        guard let started = begin(activity, wantsToken: wantsToken, on: device, now: now) else {
            throw SimulatorError(
                "\(activity.bundleID) has no channel \(activity.channelID ?? "") in \(device.environment.rawValue): "
                    + "the activity does not start.")
        }
        return started.shown(at: now)
    }

    /// Takes a device online or offline. When it is back online, it gets the messages that APNs stored: one of each
    /// channel, and the newest push of each collapse ID. Nothing happens if there is no such device.
    mutating func setOnline(_ isOnline: Bool, device id: String, now: Double) {
        guard let wasOnline = devices.byID[id]?.isOnline else { return }
        let waiting = devices.change(id) { device in
            device.isOnline = isOnline
            if wasOnline != isOnline { device.log(isOnline ? "online" : "offline", now: now) }
            defer { if isOnline { device.waiting = [] } }
            return isOnline ? device.waiting : []
        }
        guard isOnline, !wasOnline else { return }
        for push in waiting ?? [] where push.expiresAt > now {
            if let address = devices.tokens[push.token] { deliver(push.body, to: address, now: now) }
        }
        let channels = devices.byID[id].map { Devices.channels(of: $0) } ?? []
        for channel in channels.sorted(by: { $0.id < $1.id }) {
            guard let stored = apps[channel.app]?.channels[channel.id]?.shown(at: now).stored,
                let push = LivePush(Array(stored.body.utf8))
            else { continue }
            devices.deliver(push, on: channel, to: id, now: now)
        }
    }

    /// Dismisses an activity, as if a person swiped it away.
    ///
    /// - Returns: whether the activity existed.
    mutating func dismiss(activity number: Int, on id: String, now: Double) -> Bool {
        devices.change(id) { device in
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
    mutating func allow(activity number: Int, on id: String, now: Double) -> String? {
        guard let activity = devices.byID[id]?.activities.first(where: { $0.number == number }),
            activity.channelID == nil, activity.state(at: now) != .dismissed
        else { return nil }
        if let token = activity.updateToken { return token }
        let token = makeToken()
        devices.giveToken(token, to: activity, on: id)
        return token
    }

    /// - Returns: the activity with its number; `nil` if its channel does not exist.
    mutating func begin(_ activity: Activity, wantsToken: Bool, on device: Device, now: Double) -> Activity? {
        let app = AppKey(activity.bundleID, device.environment)
        if let channelID = activity.channelID, apps[app]?.channels[channelID] == nil { return nil }
        var activity = activity
        activity.bundleID = app.name
        if wantsToken { activity.updateToken = makeToken() }
        return devices.start(activity, on: device.id, now: now)
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
