package import Foundation
internal import GrandstandClient

/// The system that shows Live Activities: ActivityKit, or a stand-in in tests.
package protocol ActivityHost: Sendable {
    /// Returns the present state. The state is read at launch and whenever the app comes to the foreground, because the
    /// streams of tokens may miss changes.
    func condition() async -> HostCondition

    /// The changes from now on, until the reader is cancelled.
    func events() -> AsyncStream<HostEvent>

    /// Shows an activity.
    ///
    /// - Parameter found: the event's channel (iOS 18), without which the activity gets its own push token, and the newest
    ///   content, without which the activity shows the content in `wanted`.
    /// - Returns: `nil` if the app is not in the foreground. The start is tried again when the app is in the foreground.
    /// - Throws: `LiveActivitiesError`, or another error, if the activity will never be shown.
    func start(_ wanted: WantedStart, as found: Lookup) async throws -> DeviceActivity?

    /// The attributes and the present content of an activity, so that it can be started again.
    ///
    /// - Returns: `nil` if there is no such activity.
    func makeStart(for activity: String) async -> WantedStart?

    /// Ends an activity. If the activity does not exist, nothing happens.
    ///
    /// - Parameters:
    ///   - contentState: the last content as JSON; `nil`: the activity keeps its content.
    ///   - atOnce: whether the activity leaves the screen now. Otherwise the system decides when it leaves.
    func end(_ activity: String, contentState: Data?, atOnce: Bool) async
}

/// The state of the system and the app.
package struct HostCondition: Sendable, Hashable {
    /// The facts of the system and the app, with the start tokens that the system has provided so far. They have
    /// neither topics nor a variant.
    package var facts = InstallationFacts.unread
    /// Whether people allow the app to show Live Activities.
    var allowsActivities: Bool { facts.liveActivitiesEnabled ?? true }
    /// Whether an activity can listen to a channel (iOS 18).
    package var supportsChannels = true
    /// Whether an activity can be scheduled (iOS 26).
    package var canSchedule = true
    /// The names of the app's types of attributes.
    package var types: Set<String> = []
    /// The present activities of all types.
    package var activities: [DeviceActivity] = []

    /// A system with all features, and an app without tokens or activities.
    package init() {}
}

/// A change on the device.
package enum HostEvent: Sendable, Hashable {
    /// The app came to the foreground, or the network may be back.
    case cameToFront
    /// A start token, in hex.
    case startToken(type: String, token: String)
    /// An activity or the app's permissions have changed. The state must be read again.
    case changed
}
