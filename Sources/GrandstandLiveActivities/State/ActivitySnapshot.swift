/// A Live Activity as it is on the device now.
public struct ActivitySnapshot: Sendable, Hashable {
    /// ActivityKit's ID.
    public var id: String
    /// The name of its type of attributes.
    public var attributesType: String
    /// The event it shows.
    public var eventKey: String
    /// Where it is in its life.
    public var state: ActivityPhase
    /// In hex; `nil` for one on a channel, and until ActivityKit has given one.
    public var updateToken: String?
    /// The channel it was started on by this app; ActivityKit does not tell it.
    public var channelID: String?

    /// An activity as a host sees it.
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
    /// Scheduled for later (iOS 26); the server is told of it once it is there.
    case pending
    /// On the screen.
    case active
    /// On the screen, and out of date.
    case stale
    /// On the screen for the last time.
    case ended
    /// Gone.
    case dismissed

    /// Whether it can still show something new.
    public var isLive: Bool { self == .pending || self == .active || self == .stale }
}
