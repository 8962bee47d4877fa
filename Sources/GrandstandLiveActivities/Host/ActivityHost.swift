public import Foundation

/// The system that shows Live Activities: ActivityKit, or a stand-in in tests.
public protocol ActivityHost: Sendable {
    /// Returns the present state. The state is read at launch and whenever the app comes to the foreground, because the
    /// streams of tokens may miss changes.
    func condition() async -> HostCondition

    /// The changes from now on, until the reader is cancelled.
    func events() -> AsyncStream<HostEvent>

    /// Shows an activity.
    ///
    /// - Parameter contentState: the newest content from the server as JSON; `nil`: show the content in `wanted`.
    /// - Throws: `StartRefusal`.
    func start(
        _ wanted: WantedStart, by delivery: ActivityDelivery, contentState: Data?
    ) async throws -> ActivitySnapshot

    /// The attributes and the present content of an activity, so that it can be started again.
    ///
    /// - Returns: `nil` if there is no such activity.
    func savedStart(for activity: String) async -> WantedStart?

    /// Ends an activity. If the activity does not exist, nothing happens.
    ///
    /// - Parameters:
    ///   - contentState: the last content as JSON; `nil`: the activity keeps its content.
    ///   - atOnce: whether the activity leaves the screen now. Otherwise the system decides when it leaves.
    func end(_ activity: String, contentState: Data?, atOnce: Bool) async
}

/// The state of the system and the app.
public struct HostCondition: Sendable, Hashable {
    /// The version of the system, e.g. `18.4.1`.
    public var systemVersion: String
    /// The version that people see, e.g. `5.2`.
    public var appVersion: String?
    /// The preferred language (BCP 47).
    public var locale: String?
    /// The IANA name of the time zone.
    public var timeZone: String?
    /// Whether the app may show Live Activities.
    public var liveActivitiesEnabled = true
    /// Whether people allow frequent updates.
    public var frequentPushesEnabled = true
    /// Whether an activity can listen to a channel (iOS 18).
    public var hasChannels = true
    /// Whether an activity can be scheduled (iOS 26).
    public var schedules = true
    /// The names of the app's types of attributes.
    public var types: Set<String> = []
    /// Start tokens in hex by type, as far as the system has provided them.
    public var startTokens: [String: String] = [:]
    /// The present activities of all types.
    public var activities: [ActivitySnapshot] = []

    /// A system of this version with all features, and an app without tokens or activities.
    public init(systemVersion: String) { self.systemVersion = systemVersion }
}

/// A change on the device.
public enum HostEvent: Sendable, Hashable {
    /// The app came to the foreground, or the network may be back.
    case cameToFront
    /// A start token, in hex.
    case startToken(type: String, token: String)
    /// People changed the app's permissions.
    case permissionsChanged
    /// An activity is new or has changed.
    case activity(ActivitySnapshot)
}

/// Why the system does not show an activity.
public enum StartRefusal: Error, Sendable, Hashable {
    /// The app is not in the foreground. The start is tried again when the app is in the foreground.
    case notInFront
    /// People turned Live Activities off.
    case disabled
    /// The activity will never be shown. The text says why, e.g. too many activities.
    case impossible(String)
}
