package import APNsWire
internal import FoundationEssentials
internal import JSON

/// An activity as a person sees it.
package struct ShownActivity: Sendable, Hashable, CustomStringConvertible {
    /// `active`, `stale`, `ended` or `dismissed`.
    package enum State: String, Sendable, Hashable {
        case active, stale, ended, dismissed
    }

    /// 1 for the device's first activity.
    package let number: Int
    /// The bundle ID in lower case.
    package let bundleID: String
    /// The Swift type of the activity's attributes.
    package let attributesType: String
    /// The activity's present state.
    package let state: State
    /// JSON, byte for byte as received.
    package let contentState: [UInt8]
    /// The timestamp of the newest applied push, in seconds since 1970.
    package let timestamp: Int
    /// The newest alert as JSON; `nil`: there was none.
    package let alert: [UInt8]?
    /// The activity's own push token in hex; `nil`: it has no own token.
    package let updateToken: String?
    /// One line for people.
    package let description: String

    init(_ activity: Activity, at now: Date) {
        number = activity.number
        bundleID = activity.app
        attributesType = activity.attributesType
        state = State(rawValue: activity.state(at: now).rawValue) ?? .dismissed
        contentState = activity.contentState
        timestamp = activity.timestamp
        alert = activity.alert
        updateToken = activity.updateToken
        description = activity.line(at: now)
    }
}

/// Virtual phones for tests and demos: functions of the control API as Swift methods, for callers in the same process.
extension Simulator {
    /// Adds a device with some apps.
    ///
    /// - Returns: the device's push-to-start tokens by bundle ID in lower case.
    /// - Throws: `SimulatorError` if the simulator was not started, or if the name is taken.
    @discardableResult
    package func addDevice(
        _ id: String, in environment: APNsEnvironment, system: Int = 18, bundleIDs: [String] = []
    ) throws -> [String: String] {
        try changeDevices { memory, now throws(SimulatorError) in
            try memory.apns.addDevice(id, in: environment, system: system, bundleIDs: bundleIDs, now: now).startTokens
        }
    }

    /// Starts an activity that listens to a channel, as if a person opened the app and followed a match.
    ///
    /// - Parameter contentState: JSON.
    /// - Throws: `SimulatorError` if the device or the channel does not exist.
    @discardableResult
    package func startActivity(
        on id: String, of bundleID: String, channelID: String, attributesType: String = "Activity",
        contentState: [UInt8] = Array("{}".utf8), timestamp: Int = 0
    ) throws -> ShownActivity {
        let start = ActivityStart(
            bundleID: bundleID, attributesType: attributesType, contentState: contentState, timestamp: timestamp,
            channelID: channelID)
        return try changeDevices { memory, now throws(SimulatorError) in
            ShownActivity(try memory.apns.startActivity(start, on: id, now: now), at: now)
        }
    }

    /// Does what happens when a person allows an activity that a push started without a channel: the app gets a push
    /// token for the activity.
    ///
    /// - Returns: the token in hex, the same in every call.
    /// - Throws: `SimulatorError` if the activity does not exist, was dismissed, or listens to a channel.
    @discardableResult
    package func allow(activity number: Int, on id: String) throws -> String {
        try changeDevices { memory, now throws(SimulatorError) in
            guard let token = memory.apns.allow(activity: number, on: id, now: now) else {
                throw SimulatorError(
                    "Device \"\(id)\" has no activity \(number), or the activity listens to a channel.")
            }
            return token
        }
    }

    /// Takes a device offline or online. When it is back online, it gets the messages that APNs stored.
    package func setOnline(_ isOnline: Bool, device id: String) {
        _ = core?.change { memory, now in memory.apns.setOnline(isOnline, device: id, now: now) }
    }

    /// The activities on a device's lock screen now; empty if there is no such device.
    package func lockScreen(of id: String) -> [ShownActivity] {
        core?.change { memory, now in
            (memory.apns.devices.byID[id]?.lockScreen(at: now) ?? []).map { ShownActivity($0, at: now) }
        } ?? []
    }

    /// All lock screens, by device.
    package func lockScreens() -> [(device: String, activities: [ShownActivity])] {
        core?.change { memory, now in
            memory.apns.devices.sorted.map { device in
                (device.id, device.lockScreen(at: now).map { ShownActivity($0, at: now) })
            }
        } ?? []
    }

    /// All lock screens, now and after each change, until the simulator stops or the task is cancelled. Changes that
    /// follow faster than they are read are combined.
    package func lockScreenChanges() -> AsyncStream<[(device: String, activities: [ShownActivity])]> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                await started.wait()
                var version = -1
                while !Task.isCancelled, addresses != nil, let core {
                    _ = await core.lockScreens(after: version, within: nil)
                    version = core.change { memory, _ in memory.apns.devices.version }
                    continuation.yield(lockScreens())
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Waits until `isWanted` is true for a device's lock screen. It is checked after every change of a lock screen;
    /// nothing is polled.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the simulator stops first; `SimulatorError` if the
    ///   simulator was not started.
    @discardableResult
    package func lockScreen(
        of id: String, where isWanted: @Sendable ([ShownActivity]) -> Bool
    ) async throws -> [ShownActivity] {
        guard let core else { throw Self.notStarted }
        while true {
            try Task.checkCancellation()
            let version = core.change { memory, _ in memory.apns.devices.version }
            let shown = lockScreen(of: id)
            if isWanted(shown) { return shown }
            guard addresses != nil else { throw CancellationError() }
            _ = await core.lockScreens(after: version, within: nil)
        }
    }

    /// Sets a quirk: one variant of APNs' behaviour (`Quirks`).
    ///
    /// - Throws: `SimulatorError` for an unknown name or value, with a list of the known ones.
    package func setQuirk(_ name: String, to value: String) throws {
        try changeDevices { memory, _ throws(SimulatorError) in try memory.apns.quirks.set(name, to: value) }
    }

    /// Moves the simulator's clock ahead, which affects expirations, stale dates and tokens.
    package func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        look { memory in
            memory.clockOffset += Double(seconds) + Double(attoseconds) * 1e-18
            memory.apns.devices.touch()
        }
    }

    /// Adds the faults of a JSON script (docs/simulator.md).
    ///
    /// - Throws: `SimulatorError` that says what is wrong, and where. After an error, no fault of the script was added.
    package func addFaults(_ script: String) throws {
        let file = try FaultFile(Array(script.utf8), at: "the script")
        if let failure = try changeDevices({ memory, _ throws(SimulatorError) in memory.faults.add(file) }) {
            throw failure
        }
    }

    /// Removes a fault, and sends the answers that it withholds.
    package func removeFault(_ name: String) { core?.removeFaults { $0.name == name } }

    /// Turns an app's Broadcast capability on or off, as in Apple's developer portal. Turning it off deletes all
    /// channels of the app in both environments; they never come back.
    package func setBroadcastCapability(_ isOn: Bool, of bundleID: String) {
        look { $0.apns.setBroadcastCapability(isOn, of: bundleID) }
    }

    /// Adds a rate limit (`Bucket`), in the JSON of the control API.
    ///
    /// - Throws: `SimulatorError` before the start, or if the bucket cannot be read.
    package func addBucket(_ bucket: String) throws {
        let bucket = try Bucket(JSONValue(Array(bucket.utf8), at: "The bucket"), at: "the bucket")
        _ = try changeDevices { memory, now throws(SimulatorError) in try memory.apns.buckets.add(bucket, now: now) }
    }

    private static let notStarted = SimulatorError("The simulator was not started: start it first.")

    private func changeDevices<Result: Sendable>(
        _ body: @Sendable (inout SimulatorCore.Memory, Date) throws(SimulatorError) -> Result
    ) throws(SimulatorError) -> Result {
        guard let core else { throw Self.notStarted }
        let result = core.change { memory, now in
            Swift.Result { () throws(SimulatorError) in try body(&memory, now) }
        }
        return try result.get()
    }
}
