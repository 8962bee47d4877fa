internal import APNsWire
internal import FoundationEssentials

/// A virtual phone: its system, its activities, and the messages that wait for it.
struct Device: Sendable {
    /// A push that is stored while the device is offline. A newer one of the same app and with the same collapse ID, or
    /// also without one, replaces it (docs/internals/apns.md 3.1).
    struct Waiting: Sendable, Hashable {
        var app: String
        var collapseID: String?
        var body: [UInt8]
        var token: String
        var expiresAt: Date
    }

    /// An event in the device's log, for people.
    struct Event: Sendable, Hashable {
        var time: Date
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
    var startTokens: [String: String] = [:]
    var activities: [Activity] = []
    /// The oldest first.
    var waiting: [Waiting] = []
    var events = Ring<Event>(capacity: eventCapacity)
    var starts: [Date] = []
    private var lastActivity = 0

    init(id: String, environment: APNsEnvironment, system: Int) {
        self.id = id
        self.environment = environment
        self.system = system
    }

    mutating func log(_ text: String, now: Date) { _ = events.append(Event(time: now, text: text)) }

    mutating func store(_ push: Waiting) {
        waiting.removeAll { ($0.app, $0.collapseID) == (push.app, push.collapseID) }
        waiting.append(push)
        if waiting.count > Self.waitingCapacity { waiting.removeFirst() }
    }

    mutating func nextActivityNumber() -> Int {
        lastActivity += 1
        return lastActivity
    }

    mutating func add(_ activity: Activity) {
        activities.append(activity)
        if activities.count > Self.activityCapacity { activities.removeFirst() }
    }

    /// Applies a push to the activities for which `isAddressed` is true.
    mutating func apply(_ push: LivePush, now: Date, where isAddressed: (Activity) -> Bool) {
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
    func lockScreen(at now: Date) -> [Activity] {
        activities.filter { $0.state(at: now) != .dismissed }.sorted {
            ($0.relevance ?? 0, $0.number) > ($1.relevance ?? 0, $1.number)
        }
    }
}
