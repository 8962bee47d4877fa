/// The present state of a Live Activity on the device.
public struct ActivitySnapshot: Sendable, Hashable {
    /// ActivityKit's ID.
    public var id: String
    /// The name of its type of attributes.
    public var attributesType: String
    /// The event it shows.
    public var eventKey: String
    /// Its state.
    public var state: ActivityPhase
    /// In hex; `nil` for an activity on a channel, and until ActivityKit has provided a token.
    public var updateToken: String?
    /// The channel on which this app started it; `nil`: unknown, because ActivityKit does not tell it.
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
    /// Scheduled for later (iOS 26). It is reported to the server when it is shown.
    case pending
    /// On the screen.
    case active
    /// On the screen, but out of date.
    case stale
    /// On the screen with its last content.
    case ended
    /// Removed.
    case dismissed

    /// Whether it can still show new content.
    public var isLive: Bool { self == .pending || self == .active || self == .stale }
}
