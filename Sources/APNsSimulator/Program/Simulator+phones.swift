package import APNsWire

/// Virtual phones for tests and demos.
extension Simulator {
    struct NewDevice: Decodable {
        fileprivate let id: String
        fileprivate let environment: APNsEnvironment
        fileprivate let system: Int?
        fileprivate let bundleIds: [String]?
    }

    func addDevice(_ new: NewDevice) throws -> Device {
        if new.id.isEmpty { throw SimulatorError("the body.id: a text that is not empty is expected.") }
        try SimulatorError.check(new.system, in: 16...99, at: "the body.system")
        return try addDevice(
            new.id, in: new.environment, system: new.system ?? 18, bundleIDs: new.bundleIds ?? [])
    }

    /// Adds a device with some apps.
    ///
    /// - Throws: `SimulatorError` if the name is taken.
    @discardableResult
    package func addDevice(
        _ id: String, in environment: APNsEnvironment, system: Int = 18, bundleIDs: [String] = []
    ) throws -> Device {
        try access { memory, now throws(SimulatorError) in
            try memory.apns.addDevice(id, in: environment, system: system, bundleIDs: bundleIDs, now: now)
        }
    }

    var devices: [Device] { access { memory, now in memory.apns.devices.sorted.map { $0.snapshot(at: now) } } }

    /// - Throws: 404.
    func device(_ id: String) throws -> Device {
        let device = access { memory, now in memory.apns.devices.byID[id]?.snapshot(at: now) }
        return try Self.unwrap(device, "There is no device \"\(id)\".")
    }

    struct NewActivity: Decodable {
        fileprivate let bundleId: String
        fileprivate let attributesType: String?
        fileprivate let attributes: JSONBytes?
        fileprivate let contentState: JSONBytes?
        fileprivate let channelId: String?
        fileprivate let pushToken: Bool?
        fileprivate let timestamp: Int?
        fileprivate let staleDate: Double?
    }

    func startActivity(_ new: NewActivity, on id: String) throws -> Activity {
        if new.bundleId.isEmpty { throw SimulatorError("the body.bundleId: a text that is not empty is expected.") }
        try SimulatorError.check(new.timestamp, in: 0...Int.max, at: "the body.timestamp")
        try SimulatorError.check(new.staleDate, in: 0...1e12, at: "the body.staleDate")
        let activity = Activity(
            bundleID: new.bundleId, attributesType: new.attributesType ?? "Activity",
            contentState: new.contentState ?? JSONBytes(), attributes: new.attributes ?? JSONBytes(),
            timestamp: new.timestamp ?? 0, channelID: new.channelId, staleDate: new.staleDate)
        return try start(activity, wantsToken: new.pushToken ?? false, on: id)
    }

    /// Starts an activity that listens to a channel, as if a person opened the app and followed a match.
    ///
    /// - Throws: `SimulatorError` if the device or the channel does not exist.
    @discardableResult
    package func startActivity(
        on id: String, of bundleID: String, channelID: String, attributesType: String = "Activity",
        contentState: JSONBytes = JSONBytes(), timestamp: Int = 0
    ) throws -> Activity {
        let activity = Activity(
            bundleID: bundleID, attributesType: attributesType, contentState: contentState, timestamp: timestamp,
            channelID: channelID)
        return try start(activity, on: id)
    }

    private func start(_ activity: Activity, wantsToken: Bool = false, on id: String) throws -> Activity {
        try access { memory, now throws(SimulatorError) in
            try memory.apns.startActivity(activity, wantsToken: wantsToken, on: id, now: now)
        }
    }

    /// Does what happens when a person allows an activity that a push started without a channel: the app gets a push
    /// token for the activity.
    ///
    /// - Returns: the token in hex, the same in every call.
    /// - Throws: `SimulatorError` if the activity does not exist, was dismissed, or listens to a channel.
    @discardableResult
    package func allow(activity number: Int, on id: String) throws -> String {
        let token = access { memory, now in memory.apns.allow(activity: number, on: id, now: now) }
        return try Self.unwrap(token, "There is no such activity, or it listens to a channel and so has no push token.")
    }

    struct OnlineChange: Decodable {
        let online: Bool
    }

    /// Takes a device offline or online. When it is back online, it gets the messages that APNs stored.
    package func setOnline(_ isOnline: Bool, device id: String) {
        access { memory, now in memory.apns.setOnline(isOnline, device: id, now: now) }
    }

    struct Revocation: Decodable {
        fileprivate let reason: String?
    }

    /// Makes a token invalid: the app was removed from the device (`Unregistered`), or the activity's token expired
    /// (`ExpiredToken`).
    func revoke(token: String, _ retirement: Revocation) throws {
        let reason = APNsReason(rawValue: retirement.reason ?? APNsReason.unregistered.rawValue)
        guard reason.status == 410 else {
            throw SimulatorError("the query.reason: Unregistered or ExpiredToken is expected.")
        }
        let wasThere = access { memory, now in
            memory.apns.devices.revoke(token, Refusal(reason, timestamp: Int((now * 1_000).rounded())))
        }
        try Self.require(wasThere, "There is no such token.")
    }

    // MARK: Lock screens

    /// The activities on a device's lock screen now; empty if there is no such device.
    package func lockScreen(of id: String) -> [Activity] {
        access { memory, now in memory.apns.devices.byID[id]?.lockScreen(at: now) } ?? []
    }

    /// Waits until `isWanted` is true for a device's lock screen. It is checked after every change of a lock screen;
    /// nothing is polled.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the simulator stops first.
    @discardableResult
    package func awaitScreen(
        of id: String, where isWanted: @Sendable ([Activity]) -> Bool
    ) async throws -> [Activity] {
        let found = await wait { memory, now in
            let shown = memory.apns.devices.byID[id]?.lockScreen(at: now) ?? []
            return isWanted(shown) ? shown : nil
        }
        guard let found else { throw CancellationError() }
        return found
    }

    /// All lock screens.
    package struct LockScreens: Sendable, Encodable {
        /// Grows with every change, except changes that only time causes (a stale date or a dismissal date passes).
        package let version: Int
        /// By device.
        package let lockScreens: [LockScreen]
    }

    /// The lock screen of one device.
    package struct LockScreen: Sendable, Encodable {
        /// The device's ID.
        package let device: String
        fileprivate let online: Bool
        /// The highest relevance first, then the newest.
        package let activities: [Activity]
    }

    /// Waits until the version of the lock screens is higher than `version`.
    ///
    /// - Returns: `nil` if the simulator stops, the task is cancelled, or the time is over first.
    package func lockScreens(after version: Int, within limit: Duration? = nil) async -> LockScreens? {
        await wait(within: limit) { memory, now in
            guard memory.apns.devices.version > version else { return nil }
            let screens = memory.apns.devices.sorted.map {
                LockScreen(device: $0.id, online: $0.isOnline, activities: $0.lockScreen(at: now))
            }
            return LockScreens(version: memory.apns.devices.version, lockScreens: screens)
        }
    }

    struct ScreenQuery: Decodable {
        fileprivate let after: Int?
        fileprivate let timeout: Double?
    }

    /// Answers with all lock screens. If the query has a version in `after`, the answer waits until the version of the
    /// lock screens is higher. After `timeout` seconds, the status is 408 with the present lock screens.
    func lockScreens(_ query: ScreenQuery) async throws -> ControlAnswer {
        try SimulatorError.check(query.timeout, in: 0...Self.longestWait, at: "the query.timeout")
        let limit = Duration.seconds(query.timeout ?? 10)
        if let newer = await lockScreens(after: query.after ?? -1, within: limit) { return ControlAnswer(newer) }
        guard let present = await lockScreens(after: -1) else {
            throw SimulatorError("The simulator has stopped.", status: 503)
        }
        return ControlAnswer(present, status: 408)
    }
}
