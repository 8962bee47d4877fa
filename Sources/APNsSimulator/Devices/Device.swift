internal import APNsWire

/// A virtual phone: its system, its activities, and the messages that wait for it. The control API shows `shown(at:)`.
/// Times are in seconds since 1970.
package struct Device: Sendable, Encodable {
    /// A push that is stored while the device is offline. A newer one of the same app and with the same collapse ID, or
    /// also without one, replaces it (docs/internals/apns.md 3.1).
    struct Waiting: Sendable, Hashable {
        var app: String
        var collapseID: String?
        var body: [UInt8]
        var token: String
        var expiresAt: Double
    }

    /// An event in the device's log, for people.
    struct Event: Sendable, Hashable, Encodable {
        var time: Double
        var text: String
    }

    /// The most activities that are kept, including dismissed ones.
    static let activityCapacity = 50
    static let eventCapacity = 100
    /// The most stored pushes. Apple names no limit.
    static let waitingCapacity = 100
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
    /// Filled by `shown(at:)`.
    private var lockScreen: [Activity] = []
    var activities: [Activity] = []
    /// The tokens that are no longer valid, sorted.
    var goneTokens: [String] = []
    /// The oldest first.
    private(set) var events: [Event] = []
    /// The oldest first.
    var waiting: [Waiting] = []
    var starts: [Double] = []
    private var lastActivity = 0

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
        events.append(Event(time: now, text: text))
        if events.count > Self.eventCapacity { events.removeFirst() }
    }

    mutating func store(_ push: Waiting) {
        waiting.removeAll { ($0.app, $0.collapseID) == (push.app, push.collapseID) }
        waiting.append(push)
        if waiting.count > Self.waitingCapacity { waiting.removeFirst() }
    }

    /// Adds an activity that starts now.
    ///
    /// - Returns: the activity with its number.
    mutating func start(_ activity: Activity, now: Double) -> Activity {
        lastActivity += 1
        var activity = activity
        activity.number = lastActivity
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
        activities.map { $0.shown(at: now) }.filter { $0.state != .dismissed }.sorted {
            ($0.relevance ?? 0, $0.number) > ($1.relevance ?? 0, $1.number)
        }
    }

    /// The device with its lock screen and the states of its activities.
    func shown(at now: Double) -> Self {
        var device = self
        device.lockScreen = lockScreen(at: now)
        device.activities = activities.map { $0.shown(at: now) }
        return device
    }
}
