public import Foundation

/// A Live Activity on the device, and which version of its state the server has.
public struct DeviceActivity: Codable, Sendable, Hashable {
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
    /// The variant of the activity's audience; `nil`: unknown, or the audience has none.
    public var variant: String?
    /// The number of this state. It grows with each change.
    package var version = 1
    /// The newest version that the server has; `nil`: the server has no version.
    package var confirmed: Int?
    /// Whether a report had no answer. The unanswered report may still arrive after newer reports, so the newest report
    /// is later sent once more.
    package var isInDoubt = false

    /// An activity as ActivityKit shows it.
    package init(
        id: String, attributesType: String, eventKey: String, state: ActivityPhase, updateToken: String? = nil
    ) {
        self.id = id
        self.attributesType = attributesType
        self.eventKey = eventKey
        self.state = state
        self.updateToken = updateToken
    }

    /// Identifies the event and the type. Neither the key of the event nor the name of the type contains a space.
    var startKey: String { "\(eventKey) \(attributesType)" }

    /// Takes over the present state. ActivityKit does not tell the channel and the variant, and the token not always.
    /// Then the known ones stay, because the server also keeps them.
    mutating func merge(_ present: DeviceActivity) {
        var new = self
        new.eventKey = present.eventKey
        new.state = present.state
        new.updateToken = present.updateToken ?? updateToken
        new.channelID = present.channelID ?? channelID
        new.variant = present.variant ?? variant
        guard new != self else { return }
        new.version += 1
        self = new
    }

    /// Whether the activity must be reported. A scheduled activity is not reported yet, because the server takes the
    /// first report of an activity as the confirmation that a start reached the device.
    package var mustSend: Bool { state != .pending && confirmed != version }

    /// Whether the activity needs no more reports.
    var isSettled: Bool { state == .dismissed && !mustSend && !isInDoubt }
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
    public var isLive: Bool { self == .pending || isUpdatable }
    /// Whether the activity is on the screen and can still show new content.
    var isUpdatable: Bool { self == .active || self == .stale }
}

/// A request of the app to show an activity. The request is kept until the activity exists, the app withdraws the
/// request, or the request can never succeed, for example because the event is over.
public struct WantedStart: Codable, Sendable, Hashable {
    /// The event's key.
    public var eventKey: String
    /// The name of the activity's type of attributes.
    public var attributesType: String
    /// The attributes as JSON.
    public var attributes: Data
    /// The content as JSON. It is used if the server has no newer content.
    public var contentState: Data
    /// Apple's relevance score. The activity with the highest score is shown in the Dynamic Island.
    public var relevanceScore: Double?
    /// When to show the activity; `nil`: at once. Before iOS 26, the activity is shown when the app is in the
    /// foreground after this time.
    public var startsAt: Date?
    /// The alert when a scheduled activity appears.
    public var alert: StartAlert?
    /// The variant of one of the app's audiences in the event, e.g. a language. `nil`: the audience that a push would
    /// choose for this person, by the variant given to `follow`, or without such a variant by language.
    public var variant: String?
    /// The time of the first request. If the event is still unknown a day later, the request is given up.
    var since: Date?
    /// The ID of an activity on a replaced channel. This activity is ended as soon as the new activity can be started.
    var replaces: String?

    /// A request with these values.
    public init(
        eventKey: String, attributesType: String, attributes: Data, contentState: Data, relevanceScore: Double? = nil,
        startsAt: Date? = nil, alert: StartAlert? = nil, variant: String? = nil
    ) {
        self.eventKey = eventKey
        self.attributesType = attributesType
        self.attributes = attributes
        self.contentState = contentState
        self.relevanceScore = relevanceScore
        self.startsAt = startsAt
        self.alert = alert
        self.variant = variant
    }

    /// Identifies the event and the type, as `DeviceActivity.startKey` does. There is one activity for each of them.
    var startKey: String { "\(eventKey) \(attributesType)" }
}

/// The alert of an activity that appears without the app.
public struct StartAlert: Codable, Sendable, Hashable {
    /// The first line.
    public var title: String
    /// The second line.
    public var body: String

    /// An alert with title and body.
    public init(title: String, body: String) {
        self.title = title
        self.body = body
    }
}
