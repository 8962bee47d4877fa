internal import APNsWire
internal import FoundationEssentials

/// A virtual phone: its system, its activities, and the messages that wait for it.
struct Device: Sendable {
    /// A push kept for an app while the device is offline; a newer one takes its place (docs/internals/apns.md 3.1).
    struct Waiting: Sendable, Hashable {
        var body: [UInt8]
        var token: String
        var expiresAt: Date
    }

    /// Something that happened to it, for people.
    struct Event: Sendable, Hashable {
        var time: Date
        var text: String
    }

    /// Activities remembered, dismissed ones included.
    static let activityCapacity = 50
    static let eventCapacity = 100
    /// Starts by push a device takes within `startWindow` seconds; reported as about 10, on the device, while APNs
    /// still answers 200 (docs/internals/apns.md 3.2).
    static let startBudget = 10
    static let startWindow = 3_600.0

    let id: String
    let environment: APNsEnvironment
    /// The major version of its iOS.
    let system: Int
    var isOnline = true
    /// Push-to-start tokens by app (lowercase).
    var startTokens: [String: String] = [:]
    var activities: [Activity] = []
    var waiting: [String: Waiting] = [:]
    var events = Ring<Event>(capacity: eventCapacity)
    var starts: [Date] = []
    private var lastActivity = 0

    init(id: String, environment: APNsEnvironment, system: Int) {
        self.id = id
        self.environment = environment
        self.system = system
    }

    mutating func log(_ text: String, now: Date) { _ = events.append(Event(time: now, text: text)) }

    mutating func nextActivityNumber() -> Int {
        lastActivity += 1
        return lastActivity
    }

    mutating func add(_ activity: Activity) {
        activities.append(activity)
        lastActivity = max(lastActivity, activity.number)
        if activities.count > Self.activityCapacity { activities.removeFirst() }
    }

    /// Applies a push to the activities that `isAddressed` picks.
    mutating func apply(
        _ push: LivePush, tie: Quirks.TimestampTie, now: Date, where isAddressed: (Activity) -> Bool
    ) {
        for index in activities.indices where isAddressed(activities[index]) {
            let name = "activity \(activities[index].number)"
            do {
                try activities[index].apply(push, tie: tie, now: now)
                log("\(name): \(push.event.rawValue) of \(push.timestamp) shown", now: now)
            } catch {
                log("\(name): \(push.event.rawValue) of \(push.timestamp) dropped, \(error.rawValue)", now: now)
            }
        }
    }

    /// The activities on its lock screen: the highest relevance first, then the newest.
    func lockScreen(at now: Date) -> [Activity] {
        activities.filter { $0.state(at: now) != .dismissed }.sorted {
            ($0.relevance ?? 0, $0.number) > ($1.relevance ?? 0, $1.number)
        }
    }
}
