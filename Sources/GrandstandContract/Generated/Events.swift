// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// The state of an event.
    public enum EventState: ContractWord {
        /// startsAt is in the future and nothing was sent.
        case scheduled
        /// startsAt has passed or an update was sent. It accepts broadcasts.
        case live
        /// An end was accepted, or the server closed the event because nothing more was sent for it.
        case ended
        /// Its organiser deleted it. POST …/reopen takes that back.
        case cancelled
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.scheduled, .live, .ended, .cancelled]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .scheduled: "scheduled"
            case .live: "live"
            case .ended: "ended"
            case .cancelled: "cancelled"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// How an audience's activities get messages. Left out: channel.
    public enum AudienceDelivery: ContractWord {
        /// By a broadcast channel. Activities without a channel that report an update token get messages by that token.
        case channel
        /// By update tokens only. The server makes no channel.
        case tokens
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.channel, .tokens]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .channel: "channel"
            case .tokens: "tokens"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// The state of an audience's channel, for organisers.
    public enum AudienceChannelState: ContractWord {
        /// Its channel will be created later, at nextAttemptAt.
        case waiting
        /// The server asks Apple for it, or will soon.
        case pending
        /// Messages are sent to it.
        case active
        /// The event is over. The channel is kept for a while.
        case retiring
        /// It no longer exists.
        case deleted
        /// Apple refused to create it, or there was no place left. The server tries again at nextAttemptAt.
        case failed
        /// The audience gets messages by tokens, or the event was over before it had a channel.
        case none
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.waiting, .pending, .active, .retiring, .deleted, .failed, .none]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .waiting: "waiting"
            case .pending: "pending"
            case .active: "active"
            case .retiring: "retiring"
            case .deleted: "deleted"
            case .failed: "failed"
            case .none: "none"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What happened to an audience's channel when its event was reopened.
    public enum ChannelFate: ContractWord {
        /// It still exists, with all of its followers.
        case kept
        /// It no longer existed, or never did. A new one is created, if need be when there is a place, and followers of
        /// the old one are lost.
        case new
        /// The audience gets messages by tokens.
        case none
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.kept, .new, .none]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .kept: "kept"
            case .new: "new"
            case .none: "none"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// People to whom an event is shown: one app in one environment, and perhaps a variant. Each audience has a channel
    /// of its own.
    public struct Audience: Codable, Sendable, Hashable {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Tells it from other audiences of the app and environment. Not with delivery tokens.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// How its activities are reached.
        public var delivery: AudienceDelivery?
        /// The priority of this audience's messages, where a broadcast gives none.
        public var priority: Int?
        /// The content type of its messages: a name of PUT /v1/apps/{bundleId}/contents/{attributesType}. Left out, the
        /// event's, and without that the oldest of the app.
        public var content: String?

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, storagePolicy: StoragePolicy,
            delivery: AudienceDelivery? = nil, priority: Int? = nil, content: String? = nil
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.delivery = delivery
            self.priority = priority
            self.content = content
        }
    }

    /// Selects audiences of an event. Without variant: all of the app and environment.
    public struct AudienceSelector: Codable, Sendable, Hashable {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Only the audience of this variant.
        public var variant: String?

        /// Members that are `nil` are left out.
        public init(bundleId: String, environment: Environment, variant: String? = nil) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
        }
    }

    /// An event as an organiser declares it. The server creates its channels.
    public struct EventDraft: Codable, Sendable, Hashable {
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// A word by which organisers filter events, for example football. At most 64 characters.
        public var kind: String?
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end, after startsAt. The server closes the event twelve hours after it, or after the
        /// last message, if no end was sent.
        public var endsAt: Date?
        /// When its channels are created. Without it and without channelsOpenBefore: at once. Not together with
        /// channelsOpenBefore.
        public var channelsOpenAt: Date?
        /// Its channels are created this many seconds before startsAt; they move with startsAt, and without it wait
        /// until there is one. Not together with channelsOpenAt.
        public var channelsOpenBefore: Int?
        /// To whom it is shown. bundleId, environment and variant together stand once.
        public var audiences: [Audience]
        /// JSON of the organiser, kept as it is. grandstand season writes its member season; the list's parameter
        /// season compares season.name.
        public var metadata: RawJSON?
        /// Who follows one of these gets the event's start; apps list events by them.
        public var topics: [String]?
        /// The push that starts its Live Activity. Without it no push does.
        public var start: StartDraft?
        /// What its messages have that do not say otherwise.
        public var defaults: EventDefaults?
        /// The content type of its messages, for audiences that name none. Left out, the oldest of the app; with
        /// several, the answer warns.
        public var content: String?

        /// Members that are `nil` are left out.
        public init(
            name: String, kind: String? = nil, startsAt: Date? = nil, endsAt: Date? = nil, channelsOpenAt: Date? = nil,
            channelsOpenBefore: Int? = nil, audiences: [Audience], metadata: RawJSON? = nil, topics: [String]? = nil,
            start: StartDraft? = nil, defaults: EventDefaults? = nil, content: String? = nil
        ) {
            self.name = name
            self.kind = kind
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.channelsOpenAt = channelsOpenAt
            self.channelsOpenBefore = channelsOpenBefore
            self.audiences = audiences
            self.metadata = metadata
            self.topics = topics
            self.start = start
            self.defaults = defaults
            self.content = content
        }
    }

    /// Defaults for an event's messages.
    public struct EventDefaults: Codable, Sendable, Hashable {
        /// Their priority, also of alerts and ends. An audience's own goes before it.
        public var priority: Int?
        /// Seconds from the acceptance of a message, or from its sendAt, until the system marks its content as out of
        /// date (stale-date). At most twelve hours.
        public var staleAfter: Int?
        /// For updates only: the seconds for which one is worth sending. An end has eight hours.
        public var expiresIn: Int?
        /// Orders an app's activities: the one with the highest score is shown first.
        public var relevanceScore: RawJSON?

        /// Members that are `nil` are left out.
        public init(priority: Int? = nil, staleAfter: Int? = nil, expiresIn: Int? = nil, relevanceScore: RawJSON? = nil)
        {
            self.priority = priority
            self.staleAfter = staleAfter
            self.expiresIn = expiresIn
            self.relevanceScore = relevanceScore
        }
    }

    /// An event as it was declared, with its state. metadata keeps the declared bytes.
    public struct Event: Codable, Sendable, Hashable, ContractAnswer {
        /// The organiser's name for an event. It is unique on this server.
        public var key: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// A word by which organisers filter events.
        public var kind: String?
        /// The state of an event.
        public var state: EventState
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// When its channels are created, if a time was declared.
        public var channelsOpenAt: Date?
        /// How many seconds before startsAt its channels are created, if that was declared.
        public var channelsOpenBefore: Int?
        /// To whom it is shown, with their channels.
        public var audiences: [EventAudience]
        /// JSON of the organiser, as it was declared. Without any, an empty object.
        public var metadata: RawJSON
        /// Who follows one of these gets the event's start.
        public var topics: [String]
        /// The push that starts its Live Activity. null: none does.
        public var start: Start?
        /// What its messages have that do not say otherwise. null: none were declared.
        public var defaults: EventDefaults?
        /// When it was first declared.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date
        /// The content type of its messages, if one was declared.
        public var content: String?
        /// When POST …/reopen last took its end or cancellation back. Only of an event of which that was done.
        public var reopenedAt: Date?
        /// Only in the answer to PUT and PATCH. Effects that may not be meant: followers that are lost (another storage
        /// policy, an audience removed without an end), scheduled broadcasts or a start that keep their times while the
        /// event moves; and, if its times changed after cards were started, who gets one and who gets none.
        public var warnings: [String]?

        package static let leftOut = ["content", "reopenedAt", "warnings"]

        /// Members that are `nil` are left out.
        public init(
            key: String, name: String, kind: String? = nil, state: EventState, startsAt: Date? = nil,
            endsAt: Date? = nil, channelsOpenAt: Date? = nil, channelsOpenBefore: Int? = nil,
            audiences: [EventAudience], metadata: RawJSON, topics: [String], start: Start? = nil,
            defaults: EventDefaults? = nil, createdAt: Date, updatedAt: Date, content: String? = nil,
            reopenedAt: Date? = nil, warnings: [String]? = nil
        ) {
            self.key = key
            self.name = name
            self.kind = kind
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.channelsOpenAt = channelsOpenAt
            self.channelsOpenBefore = channelsOpenBefore
            self.audiences = audiences
            self.metadata = metadata
            self.topics = topics
            self.start = start
            self.defaults = defaults
            self.createdAt = createdAt
            self.updatedAt = updatedAt
            self.content = content
            self.reopenedAt = reopenedAt
            self.warnings = warnings
        }
    }

    /// An event after its end or cancellation was taken back.
    public struct ReopenedEvent: Codable, Sendable, Hashable, ContractAnswer {
        /// The organiser's name for an event. It is unique on this server.
        public var key: String
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// A word by which organisers filter events.
        public var kind: String?
        /// The state of an event.
        public var state: EventState
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// When its channels are created, if a time was declared.
        public var channelsOpenAt: Date?
        /// How many seconds before startsAt its channels are created, if that was declared.
        public var channelsOpenBefore: Int?
        /// To whom it is shown, with their channels.
        public var audiences: [EventAudience]
        /// JSON of the organiser, as it was declared.
        public var metadata: RawJSON
        /// Who follows one of these gets the event's start.
        public var topics: [String]
        /// The push that starts its Live Activity. null: none does.
        public var start: Start?
        /// What its messages have that do not say otherwise.
        public var defaults: EventDefaults?
        /// When it was first declared.
        public var createdAt: Date
        /// When it was last changed.
        public var updatedAt: Date
        /// The content type of its messages, if one was declared.
        public var content: String?
        /// When POST …/reopen last took its end or cancellation back. Only of an event of which that was done.
        public var reopenedAt: Date?
        /// The audiences that were reopened, and what happened to their channels. Empty if neither the event nor an
        /// audience was over.
        public var channels: [ReopenedChannel]
        /// The broadcasts that this sends: the newest content once more, and updates that an end had replaced.
        public var broadcasts: [String]
        /// What cannot be taken back: ends that devices may have got, channels and followers that are lost; and, if
        /// cards were started, who gets one and who gets none.
        public var warnings: [String]

        package static let leftOut = ["content", "reopenedAt"]

        /// The members of the other object, and these.
        package init(channels: [ReopenedChannel], broadcasts: [String], warnings: [String], _ base: Event) {
            self.key = base.key
            self.name = base.name
            self.kind = base.kind
            self.state = base.state
            self.startsAt = base.startsAt
            self.endsAt = base.endsAt
            self.channelsOpenAt = base.channelsOpenAt
            self.channelsOpenBefore = base.channelsOpenBefore
            self.audiences = base.audiences
            self.metadata = base.metadata
            self.topics = base.topics
            self.start = base.start
            self.defaults = base.defaults
            self.createdAt = base.createdAt
            self.updatedAt = base.updatedAt
            self.content = base.content
            self.reopenedAt = base.reopenedAt
            self.channels = channels
            self.broadcasts = broadcasts
            self.warnings = warnings
        }
    }

    /// What happened to one audience's channel when its event was reopened.
    public struct ReopenedChannel: Codable, Sendable, Hashable {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// The audience's variant, if it has one.
        public var variant: String?
        /// What happened to an audience's channel when its event was reopened.
        public var channel: ChannelFate

        /// Members that are `nil` are left out.
        public init(bundleId: String, environment: Environment, variant: String? = nil, channel: ChannelFate) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.channel = channel
        }
    }

    /// Which audiences to open again.
    public struct ReopenOrder: Codable, Sendable, Hashable {
        /// Only these. Left out: all.
        public var audiences: [AudienceSelector]?

        /// Members that are `nil` are left out.
        public init(audiences: [AudienceSelector]? = nil) {
            self.audiences = audiences
        }
    }

    /// An audience of an event, with its channel.
    public struct EventAudience: Codable, Sendable, Hashable {
        /// The app's bundle ID, spelled as registered at Apple, without a push-type suffix. Two apps cannot differ in
        /// capitals only.
        public var bundleId: String
        /// APNs has two environments, each with its own tokens and channels.
        public var environment: Environment
        /// Its variant, if it has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// How an audience's activities get messages. Left out: channel.
        public var delivery: AudienceDelivery
        /// The priority of its messages where a broadcast gives none, if one was declared.
        public var priority: Int?
        /// The content type of its messages, if one was declared.
        public var content: String?
        /// The state of an audience's channel.
        public var channel: AudienceChannel

        /// Members that are `nil` are left out.
        public init(
            bundleId: String, environment: Environment, variant: String? = nil, storagePolicy: StoragePolicy,
            delivery: AudienceDelivery, priority: Int? = nil, content: String? = nil, channel: AudienceChannel
        ) {
            self.bundleId = bundleId
            self.environment = environment
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.delivery = delivery
            self.priority = priority
            self.content = content
            self.channel = channel
        }
    }

    /// The state of an audience's channel.
    public struct AudienceChannel: Codable, Sendable, Hashable {
        /// The state of an audience's channel, for organisers.
        public var state: AudienceChannelState
        /// Apple's ID of it, once Apple has answered.
        public var channelId: String?
        /// Why it waits or failed.
        public var reason: String?
        /// When the server next calls Apple for it.
        public var nextAttemptAt: Date?

        /// Members that are `nil` are left out.
        public init(
            state: AudienceChannelState, channelId: String? = nil, reason: String? = nil, nextAttemptAt: Date? = nil
        ) {
            self.state = state
            self.channelId = channelId
            self.reason = reason
            self.nextAttemptAt = nextAttemptAt
        }
    }

    /// A page of events.
    public typealias EventPage = Page<Event>

    /// The push that starts the event's Live Activity for everyone who follows one of its topics, once each. It shows
    /// the newest accepted content. contentState is shown until there is some; without contentState no push is sent
    /// before. With its longest alert the push may have 4,096 bytes (413 payload-too-large).
    public struct StartDraft: Codable, Sendable, Hashable {
        /// When. Left out, at startsAt, which must be there then.
        public var at: Date?
        /// After at. Who begins to follow before this gets it then. Left out, until the event is over, at most four
        /// hours after the latest of at, startsAt, endsAt and its newest message.
        public var until: Date?
        /// The name of the app's Swift type of ActivityAttributes, at most 128 characters.
        public var attributesType: String
        /// The static attributes of the activity. They reach the app byte for byte.
        public var attributes: RawJSON
        /// What it shows until a broadcast with content is accepted. It reaches the app byte for byte.
        public var contentState: RawJSON?
        /// The alert, byte for byte. Apple starts no activity without one.
        public var alert: RawJSON
        /// Alerts by BCP 47 tags, byte for byte. An installation gets the best match of its locale (RFC 4647 lookup),
        /// else alert. Capitals do not tell tags apart.
        public var alertsByLocale: [String: RawJSON]?
        /// From when on the system marks contentState as out of date. Fractions of seconds are cut off. Left out, the
        /// event's default, else when the event is expected to end.
        public var staleDate: Date?
        /// Seconds for which Apple keeps the push for a phone that is offline, not beyond endsAt while that is ahead.
        /// It keeps one push of each event.
        public var expiresIn: Int?
        /// Only these audiences of the event. Left out: all. Where an app has several in an environment, each
        /// installation starts on one of those that are not over: the one whose variant it names, else the one whose
        /// variant is the best match of its locale (RFC 4647 lookup), else the one without a variant, else the first.
        public var audiences: [AudienceSelector]?
        /// true: when an audience gets another channel, start the activity again for followers whose card listened to
        /// the old one. Only for apps that end the older card of an event when a push starts another, as
        /// GrandstandLiveActivities does; in other apps people would see two.
        public var restart: Bool?

        /// Members that are `nil` are left out.
        public init(
            at: Date? = nil, until: Date? = nil, attributesType: String, attributes: RawJSON,
            contentState: RawJSON? = nil, alert: RawJSON, alertsByLocale: [String: RawJSON]? = nil,
            staleDate: Date? = nil, expiresIn: Int? = nil, audiences: [AudienceSelector]? = nil, restart: Bool? = nil
        ) {
            self.at = at
            self.until = until
            self.attributesType = attributesType
            self.attributes = attributes
            self.contentState = contentState
            self.alert = alert
            self.alertsByLocale = alertsByLocale
            self.staleDate = staleDate
            self.expiresIn = expiresIn
            self.audiences = audiences
            self.restart = restart
        }
    }

    /// The start of an event as it was declared. Members that were left out are null.
    public struct Start: Codable, Sendable, Hashable, ContractAnswer {
        /// When. null: at startsAt.
        public var at: Date?
        /// Who begins to follow before this gets it then. null: until the event is over, at most four hours after the
        /// latest of at, startsAt, endsAt and its newest message.
        public var until: Date?
        /// The name of the app's Swift type of ActivityAttributes, at most 128 characters.
        public var attributesType: String
        /// The static attributes of the activity.
        public var attributes: RawJSON
        /// What it shows until a broadcast with content is accepted.
        public var contentState: RawJSON?
        /// The alert.
        public var alert: RawJSON
        /// Alerts by BCP 47 tags.
        public var alertsByLocale: [String: RawJSON]?
        /// From when on the system marks contentState as out of date.
        public var staleDate: Date?
        /// Seconds for which Apple keeps the push for a phone that is offline. null: 900.
        public var expiresIn: Int?
        /// Only these audiences of the event. null: all.
        public var audiences: [AudienceSelector]?
        /// Whether cards are started again when an audience gets another channel.
        public var restart: Bool

        /// Members that are `nil` are left out.
        public init(
            at: Date? = nil, until: Date? = nil, attributesType: String, attributes: RawJSON,
            contentState: RawJSON? = nil, alert: RawJSON, alertsByLocale: [String: RawJSON]? = nil,
            staleDate: Date? = nil, expiresIn: Int? = nil, audiences: [AudienceSelector]? = nil, restart: Bool
        ) {
            self.at = at
            self.until = until
            self.attributesType = attributesType
            self.attributes = attributes
            self.contentState = contentState
            self.alert = alert
            self.alertsByLocale = alertsByLocale
            self.staleDate = staleDate
            self.expiresIn = expiresIn
            self.audiences = audiences
            self.restart = restart
        }
    }
}
