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
            throw SimulatorError("\(Activity.DropReason.tooLarge.rawValue): the activity does not start.")
        }
        guard let started = begin(activity, wantsToken: wantsToken, on: device, now: now) else {
            throw SimulatorError(
                "\(activity.bundleID) has no channel \(activity.channelID ?? "") in \(device.environment.rawValue): "
                    + "the activity does not start.")
        }
        return started.snapshot(at: now)
    }

    /// Takes a device online or offline. When it is back online, it gets the messages that APNs stored: one of each
    /// channel, and the newest push of each collapse ID. Nothing happens if there is no such device.
    mutating func setOnline(_ isOnline: Bool, device id: String, now: Double) {
        guard let wasOnline = devices.byID[id]?.isOnline else { return }
        let waiting = devices.change(id) { device in
            device.isOnline = isOnline
            if wasOnline != isOnline { device.log(isOnline ? "online" : "offline", now: now) }
            defer { if isOnline { device.storedPushes = [] } }
            return isOnline ? device.storedPushes : []
        }
        guard isOnline, !wasOnline else { return }
        for push in waiting ?? [] where push.expiresAt > now {
            if let address = devices.tokens[push.token] { deliver(push.body, to: address, now: now) }
        }
        let channels = devices.byID[id].map { Devices.channels(of: $0) } ?? []
        for channel in channels.sorted(by: { $0.id < $1.id }) {
            guard let stored = apps[channel.app]?.channels[channel.id]?.snapshot(at: now).stored,
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
            device.activities[index].wasSwiped = true
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
        activity.bundleID = app.bundle
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

/// Device pushes for Live Activities (docs/internals/apns.md section 3).
extension SimulatorState {
    /// Seconds for which APNs stores a push without an expiration: 30 days.
    static let defaultPushLifetime = 2_592_000.0

    /// The checks, in this order, after those of the token and the connection:
    ///
    /// 1. a duplicate header of APNs: `DuplicateHeaders`
    /// 2. no device token: `MissingDeviceToken`; not hexadecimal: `BadDeviceToken`
    /// 3. `apns-topic` absent: `MissingTopic`; not `<bundle ID>.push-type.liveactivity`, outside the key's scope, or of
    ///    an app another team owns: `TopicDisallowed`
    /// 4. `apns-push-type` not `liveactivity`: `InvalidPushType`
    /// 5. `apns-id`: `BadMessageId`
    /// 6. `apns-expiration`, if present, not a number: `BadExpirationDate`
    /// 7. `apns-priority`, if present, not 1, 5 or 10: `BadPriority`
    /// 8. `apns-collapse-id` longer than 64 bytes: `BadCollapseId`
    /// 9. an unknown device token, or one of the other environment: `BadDeviceToken`; of another app:
    ///    `DeviceTokenNotForTopic`; no longer valid: 410 `Unregistered` or `ExpiredToken`
    /// 10. the body: `PayloadEmpty`, more than 4,096 bytes `PayloadTooLarge`, and `BadRequestPayload` (the rules are
    ///     in `DevicePush.check`)
    /// 11. the buckets: `TooManyRequests`
    mutating func push(
        _ request: SimulatorRequest, to token: String, by key: ProviderKey, now: Double
    ) throws(Refusal) -> SimulatorAnswer {
        let names = request.headers.map(\.name).filter { $0.hasPrefix("apns-") || $0 == APNsHeader.authorization }
        if Set(names).count < names.count { throw Refusal(.duplicateHeaders) }
        let token = token.lowercased()
        if token.isEmpty { throw Refusal(.missingDeviceToken) }
        let isHexadecimal = token.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        guard isHexadecimal, token.utf8.count.isMultiple(of: 2) else { throw Refusal(.badDeviceToken) }
        let app = try checkedApp(of: request, key: key)
        guard request[header: APNsHeader.pushType]?.lowercased() == PushType.header else {
            throw Refusal(.invalidPushType)
        }
        if !isGood(request[header: APNsHeader.id]) { throw Refusal(.badMessageId) }
        let expiration = try DevicePush.checkHeaders(request)
        let address = try owner(token, of: app)
        try DevicePush.check(request.body, isCut: request.bodyIsCut, isStart: address.map { $0.activity == nil })
        try buckets.take(.device, Bucket.Key(app, device: token, connection: request.connectionID), now: now)
        if let address { handOver(request, token, address, expiration: expiration, now: now) }
        let includesUniqueID = request.environment == .development
        return SimulatorAnswer(
            status: 200, headers: includesUniqueID ? [.init(APNsHeader.uniqueID, RequestID.make(using: &random))] : [])
    }

    /// Applies a push that has reached its device.
    mutating func deliver(_ body: [UInt8], to address: Devices.Owner, now: Double) {
        guard let push = LivePush(body), let device = devices.byID[address.device] else { return }
        switch (address.activity, push.event) {
        case (nil, .start): start(push, on: device, app: address.app, now: now)
        case (let number?, .update), (let number?, .end):
            devices.change(device.id) { device in device.apply(push, now: now) { $0.number == number } }
        default: break
        }
    }

    private mutating func handOver(
        _ request: SimulatorRequest, _ token: String, _ address: Devices.Owner, expiration: Int?, now: Double
    ) {
        if devices.byID[address.device]?.isOnline == true { return deliver(request.body, to: address, now: now) }
        guard expiration != 0 else { return }
        devices.change(address.device) {
            $0.store(
                .init(
                    app: address.app, collapseID: request[header: APNsHeader.collapseID], body: request.body,
                    token: token, expiresAt: expiration.map(Double.init) ?? now + Self.defaultPushLifetime))
        }
    }

    /// Starts an activity by push. If that is not possible, the device's log says why, because APNs has already
    /// answered 200.
    private mutating func start(_ push: LivePush, on device: Device, app: String, now: Double) {
        let activity = Activity(push, of: app)
        let recent = device.pushStartTimes.filter { now - $0 < Device.startWindow }
        let obstacle: String? =
            if recent.count >= Device.startBudget {
                "the budget of \(Device.startBudget) starts an hour is used up"
            } else if push.inputPushChannel != nil, device.system < 18 {
                "iOS \(device.system) does not support input-push-channel"
            } else if !Activity.fits(activity.attributes, activity.contentState) {
                Activity.DropReason.tooLarge.rawValue
            } else {
                nil
            }
        devices.change(device.id) { device in
            device.pushStartTimes = obstacle == nil ? recent + [now] : recent
            if let obstacle { device.log("start dropped, \(obstacle)", now: now) }
        }
        guard obstacle == nil, let device = devices.byID[device.id] else { return }
        if begin(activity, wantsToken: push.asksForToken, on: device, now: now) == nil {
            devices.change(device.id) { $0.log("start dropped: its channel does not exist", now: now) }
        }
    }

    private func checkedApp(of request: SimulatorRequest, key: ProviderKey) throws(Refusal) -> AppKey {
        guard let topic = request[header: APNsHeader.topic]?.lowercased(), !topic.isEmpty else {
            throw Refusal(.missingTopic)
        }
        guard topic.hasSuffix(PushType.topicSuffix), topic.utf8.count > PushType.topicSuffix.utf8.count else {
            throw Refusal(.topicDisallowed)
        }
        let app = AppKey(String(topic.dropLast(PushType.topicSuffix.count)), request.environment)
        if !key.scope.allows(topic: app.bundle) { throw Refusal(.topicDisallowed) }
        if let owner = owners[app], owner != key.teamID { throw Refusal(.topicDisallowed) }
        return app
    }

    private func owner(_ token: String, of app: AppKey) throws(Refusal) -> Devices.Owner? {
        guard let address = devices.tokens[token], let device = devices.byID[address.device],
            device.environment == app.environment
        else {
            if quirks.unknownDevice == .accepted { return nil }
            throw Refusal(.badDeviceToken)
        }
        if address.app != app.bundle { throw Refusal(.deviceTokenNotForTopic) }
        if let gone = address.gone { throw gone }
        return address
    }
}
