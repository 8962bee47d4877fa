/// The present state of a Live Activity on the device.
public struct ActivitySnapshot: Sendable, Hashable {
    /// The ID that ActivityKit gave to the activity.
    public var id: String
    /// The name of the activity's type of attributes.
    public var attributesType: String
    /// The key of the event that the activity shows.
    public var eventKey: String
    /// The state of the activity.
    public var state: ActivityPhase
    /// The push token in hex; `nil` for an activity on a channel, and until ActivityKit has provided a token.
    public var updateToken: String?
    /// The channel on which this app started the activity; `nil`: unknown, because ActivityKit does not tell the
    /// channel.
    public var channelID: String?

    /// An activity with these values.
    public init(
        id: String, attributesType: String, eventKey: String, state: ActivityPhase, updateToken: String? = nil,
        channelID: String? = nil
    ) {
        self.id = id
        self.attributesType = attributesType
        self.eventKey = eventKey
        self.state = state
        self.updateToken = updateToken
        self.channelID = channelID
    }
}

/// The states of a Live Activity, as ActivityKit names them.
public enum ActivityPhase: String, Codable, Sendable, Hashable {
    /// The activity is scheduled for later (iOS 26). It is reported to the server when it is shown.
    case pending
    /// On the screen.
    case active
    /// On the screen, but out of date.
    case stale
    /// On the screen with its last content.
    case ended
    /// Removed.
    case dismissed

    /// Whether the activity can still show new content.
    public var isLive: Bool { self == .pending || self == .active || self == .stale }
}
