internal import APNsWire

/// A virtual phone: its system, its activities, and the messages that wait for it. The control API shows
/// `snapshot(at:)`. Times are in seconds since 1970.
package struct Device: Sendable, Encodable {
    /// A push that is stored while the device is offline. A newer one of the same app and with the same collapse ID, or
    /// also without one, replaces it (docs/internals/apns.md 3.1).
    struct StoredPush: Sendable, Hashable {
        var app: String
        var collapseID: String?
        var body: [UInt8]
        var token: String
        var expiresAt: Double
    }

    /// An event in the device's log, for people.
    struct LogEntry: Sendable, Hashable, Encodable {
        var time: Double
        var text: String
    }

    /// The most activities that are kept, including dismissed ones.
    static let activityCapacity = 50
    static let logCapacity = 100
    /// The most stored pushes. Apple names no limit.
    static let storedPushCapacity = 100
    /// The starts by push that a device accepts within `startWindow` seconds. Observed on devices: about 10 an hour.
    /// The device drops further starts, while APNs still answers 200 (docs/internals/apns.md 3.2).
    static let startBudget = 10
    static let startWindow = 3_600.0

    let id: String
    let environment: APNsEnvironment
    /// The major version of iOS.
    let system: Int
    var isOnline = true
    /// Push-to-start tokens by bundle ID in lower case.
    package internal(set) var startTokens: [String: String] = [:]
    /// Filled by `snapshot(at:)`.
    private var lockScreen: [Activity] = []
    var activities: [Activity] = []
    /// The tokens that are no longer valid, sorted.
    var goneTokens: [String] = []
    /// The oldest first.
    private(set) var events: [LogEntry] = []
    /// The oldest first.
    var storedPushes: [StoredPush] = []
    var pushStartTimes: [Double] = []
    private var lastActivityNumber = 0

    private enum CodingKeys: String, CodingKey {
        case id, environment, system
        case isOnline = "online"
        case startTokens = "pushToStartTokens"
        case lockScreen, activities, goneTokens, events
    }

    init(id: String, environment: APNsEnvironment, system: Int) {
        self.id = id
        self.environment = environment
        self.system = system
    }

    mutating func log(_ text: String, now: Double) {
        events.append(LogEntry(time: now, text: text))
        if events.count > Self.logCapacity { events.removeFirst() }
    }

    mutating func store(_ push: StoredPush) {
        storedPushes.removeAll { ($0.app, $0.collapseID) == (push.app, push.collapseID) }
        storedPushes.append(push)
        if storedPushes.count > Self.storedPushCapacity { storedPushes.removeFirst() }
    }

    /// Adds an activity that starts now.
    ///
    /// - Returns: the activity with its number.
    mutating func start(_ activity: Activity, now: Double) -> Activity {
        lastActivityNumber += 1
        var activity = activity
        activity.number = lastActivityNumber
        activity.startedAt = now
        activities.append(activity)
        if activities.count > Self.activityCapacity { activities.removeFirst() }
        log("activity \(activity.number): started for \(activity.bundleID)", now: now)
        return activity
    }

    /// Applies a push to the activities for which `isAddressed` is true.
    mutating func apply(_ push: LivePush, now: Double, where isAddressed: (Activity) -> Bool) {
        for index in activities.indices where isAddressed(activities[index]) {
            let name = "activity \(activities[index].number)"
            do {
                try activities[index].apply(push, now: now)
                log("\(name): \(push.event.rawValue) of \(push.timestamp) shown", now: now)
            } catch {
                log("\(name): \(push.event.rawValue) of \(push.timestamp) dropped, \(error.rawValue)", now: now)
            }
        }
    }

    /// The activities on this device's lock screen: the highest relevance first, then the newest.
    func lockScreen(at now: Double) -> [Activity] {
        activities.map { $0.snapshot(at: now) }.filter { $0.state != .dismissed }.sorted {
            ($0.relevance ?? 0, $0.number) > ($1.relevance ?? 0, $1.number)
        }
    }

    /// The device with its lock screen and the states of its activities.
    func snapshot(at now: Double) -> Self {
        var device = self
        device.lockScreen = lockScreen(at: now)
        device.activities = activities.map { $0.snapshot(at: now) }
        return device
    }
}

/// All devices, and the channels that each listens to.
struct Devices: Sendable {
    /// The owner of a token.
    struct Owner: Sendable, Hashable {
        var device: String
        /// The bundle ID in lower case.
        var app: String
        /// The number of the activity that the token updates; `nil`: the token starts activities.
        var activity: Int?
        /// The answer to pushes since the token is no longer valid: `Unregistered` or `ExpiredToken`.
        var gone: Refusal?
    }

    private(set) var byID: [String: Device] = [:]
    private(set) var tokens: [String: Owner] = [:]
    private var listeners: [SimulatorState.ChannelKey: Set<String>] = [:]
    /// Grows with every change of a lock screen, except changes that only time causes.
    var version = 0

    var sorted: [Device] { byID.values.sorted { $0.id < $1.id } }

    func listens(to channel: SimulatorState.ChannelKey) -> Bool { listeners[channel] != nil }

    // MARK: Making and changing

    mutating func add(_ device: Device) {
        byID[device.id] = device
        for (app, token) in device.startTokens { tokens[token] = Owner(device: device.id, app: app) }
        version += 1
    }

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
    mutating func revoke(_ token: String, _ gone: Refusal) -> Bool {
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
        if let token = activity.updateToken { register(token, activity, on: id) }
        return activity
    }

    /// Gives an activity its own push token.
    mutating func giveToken(_ token: String, to activity: Activity, on id: String) {
        change(id) { device in
            for index in device.activities.indices where device.activities[index].number == activity.number {
                device.activities[index].updateToken = token
            }
        }
        register(token, activity, on: id)
    }

    private mutating func register(_ token: String, _ activity: Activity, on id: String) {
        tokens[token] = Owner(device: id, app: activity.bundleID, activity: activity.number)
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
            device.apply(push, now: now) { $0.channelID == channel.id && $0.bundleID == channel.app.bundle }
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
