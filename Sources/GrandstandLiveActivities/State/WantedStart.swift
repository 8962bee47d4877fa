public import Foundation

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

    /// Identifies the event and the type, as `DeviceActivity.name` does. There is one activity for each of them.
    var name: String { "\(eventKey) \(attributesType)" }
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
