public import Foundation

/// The system that shows Live Activities: ActivityKit, or a stand-in in tests.
public protocol ActivityHost: Sendable {
    /// What the system says now. It is asked at launch and whenever the app comes to the front, since streams of tokens can
    /// stay silent.
    func condition() async -> HostCondition

    /// What changes from now on, until the reader is cancelled.
    func events() -> AsyncStream<HostEvent>

    /// Shows an activity.
    ///
    /// - Parameter contentState: the newest content as JSON, where the server has some; else the one that is wanted.
    /// - Throws: `StartRefusal`.
    func start(
        _ wanted: WantedStart, by delivery: ActivityDelivery, contentState: Data?
    ) async throws -> ActivitySnapshot

    /// What an activity is made of, so that it can be started again: attributes and the content that it shows.
    ///
    /// - Returns: `nil`: it is not there.
    func wish(for activity: String) async -> WantedStart?

    /// Ends an activity. One that is not there is no error.
    ///
    /// - Parameters:
    ///   - contentState: the last content as JSON; `nil`: what it shows.
    ///   - atOnce: whether it leaves the screen now; else when the system wants.
    func end(_ activity: String, contentState: Data?, atOnce: Bool) async
}

/// What a system says of itself and the app.
public struct HostCondition: Sendable, Hashable {
    /// As `18.4.1`.
    public var systemVersion: String
    /// As people know it, e.g. `5.2`.
    public var appVersion: String?
    /// The language that people prefer, in BCP 47.
    public var locale: String?
    /// By its IANA name.
    public var timeZone: String?
    /// Whether the app may show Live Activities.
    public var liveActivitiesEnabled = true
    /// Whether people let it update them often.
    public var frequentPushesEnabled = true
    /// Whether an activity may listen to a channel (iOS 18).
    public var hasChannels = true
    /// Whether an activity may be scheduled (iOS 26).
    public var schedules = true
    /// The types of attributes that the app has.
    public var types: Set<String> = []
    /// Start tokens in hex by type, as far as the system has given them.
    public var startTokens: [String: String] = [:]
    /// The activities there are, of all types.
    public var activities: [ActivitySnapshot] = []

    /// A system of this version, which does all there is, of an app that has nothing yet.
    public init(systemVersion: String) { self.systemVersion = systemVersion }
}

/// Something that changed on the device.
public enum HostEvent: Sendable, Hashable {
    /// The app came to the front, or the network may have come back.
    case cameToFront
    /// A start token, in hex.
    case startToken(type: String, token: String)
    /// People changed what the app may do.
    case permissionsChanged
    /// An activity is new or changed.
    case activity(ActivitySnapshot)
    /// A message was shown; `timestamp` is its `aps.timestamp`, as the content says it.
    case shown(eventKey: String, timestamp: Int, at: Date)
}

/// The system does not show an activity.
public enum StartRefusal: Error, Sendable, Hashable {
    /// The app is not in front. It is tried again when it is.
    case notInFront
    /// People switched Live Activities off.
    case disabled
    /// It will not be shown later either: what was wrong, e.g. too many activities.
    case impossible(String)
}
