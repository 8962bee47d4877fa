public import Foundation

/// An activity that the app wants to show: kept until it is there, or the server says that its event is over.
public struct WantedStart: Codable, Sendable, Hashable {
    /// The event it shows.
    public var eventKey: String
    /// The name of its type of attributes.
    public var attributesType: String
    /// The attributes as JSON.
    public var attributes: Data
    /// What to show unless the server knows newer, as JSON.
    public var contentState: Data
    /// Apple's relevance score: the highest gets the Dynamic Island.
    public var relevanceScore: Double?
    /// When to show it; `nil`: at once. Before iOS 26 it is shown when the app is in front after that.
    public var startsAt: Date?
    /// What people are told when a scheduled one appears.
    public var alert: StartAlert?
    /// Which of the app's audiences in the event, e.g. a language; `nil`: the one that a push would start for this person,
    /// by the variant given to `follow`, else by language.
    public var variant: String?
    /// When it was asked for first; an event that is still unknown a day later is a mistake.
    package internal(set) var since: Date?
    /// The activity on a channel that is gone: it ends as soon as this one can be started.
    package internal(set) var replaces: String?

    /// An activity to be shown.
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

    /// One card for each event and type. One that is to be replaced is not it.
    func isOf(_ snapshot: ActivitySnapshot) -> Bool {
        eventKey == snapshot.eventKey && attributesType == snapshot.attributesType && snapshot.id != replaces
    }

    func isSame(as other: WantedStart) -> Bool {
        eventKey == other.eventKey && attributesType == other.attributesType
    }
}

/// The alert of an activity that appears by itself.
public struct StartAlert: Codable, Sendable, Hashable {
    /// The first line.
    public var title: String
    /// The second line.
    public var body: String

    /// An alert of two lines.
    public init(title: String, body: String) {
        self.title = title
        self.body = body
    }
}

/// How an activity gets its updates.
public enum ActivityDelivery: Sendable, Hashable {
    /// By the event's broadcast channel (iOS 18).
    case channel(String)
    /// By a token of its own.
    case token
}
