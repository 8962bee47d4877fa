// Generated from openapi.yaml by `make contract`. Do not edit.

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// The states of events that people can still follow.
    public enum FollowableState: ContractWord {
        /// startsAt is in the future and nothing was sent.
        case scheduled
        /// startsAt has passed or an update was sent.
        case live
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.scheduled, .live]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .scheduled: "scheduled"
            case .live: "live"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// Why a lookup of one event in a batch found no channel.
    public enum MissingReason: ContractWord {
        /// There is no such event for this app.
        case eventNotFound
        /// The event has other variants for this app.
        case variantNotFound
        /// The channel does not exist yet.
        case channelPending
        /// The event is over.
        case eventEnded
        /// The server cannot know now, because its database is away. Ask again.
        case storeUnavailable
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [
            .eventNotFound, .variantNotFound, .channelPending, .eventEnded, .storeUnavailable,
        ]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .eventNotFound: "event-not-found"
            case .variantNotFound: "variant-not-found"
            case .channelPending: "channel-pending"
            case .eventEnded: "event-ended"
            case .storeUnavailable: "store-unavailable"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What a lookup adds.
    public enum LookupInclude: ContractWord {
        /// The newest accepted content with its timestamp.
        case contentState
        /// A word of a newer server.
        case unknown(String)

        /// The words that this version knows.
        public static let allCases: [Self] = [.contentState]

        /// The word in JSON.
        public var rawValue: String {
            switch self {
            case .contentState: "contentState"
            case .unknown(let word): word
            }
        }

        /// Any word: one that this version does not know is `unknown`.
        public init(rawValue: String) {
            self = Self.allCases.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }
    }

    /// What an app needs to start a Live Activity for an event.
    public struct Lookup: Codable, Sendable, Hashable, ContractAnswer {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// Apple's ID of the channel, for pushType .channel(…). null only where delivery is tokens.
        public var channelId: String?
        /// Only for tokens: the event has no channel for this app. Start the activity with an update token and report
        /// the token.
        public var delivery: AudienceDelivery?
        /// The variant of the audience that was found, if it has one.
        public var variant: String?
        /// All variants that the event has for this app and environment, in the order of their declaration. Left out
        /// where there are none.
        public var variants: [String]?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The state of an event.
        public var state: EventState
        /// When the event is planned to start.
        public var startsAt: Date?
        /// When the event is planned to end.
        public var endsAt: Date?
        /// The newest accepted content, with include=contentState and once there is some.
        public var contentState: RawJSON?
        /// aps.timestamp of the message with this content, in seconds since 1970. Before it is sent, the lowest that it
        /// can get.
        public var timestamp: Int?

        package static let leftOut = ["delivery", "variant", "variants", "contentState", "timestamp"]

        /// Members that are `nil` are left out.
        public init(
            eventKey: String, channelId: String? = nil, delivery: AudienceDelivery? = nil, variant: String? = nil,
            variants: [String]? = nil, storagePolicy: StoragePolicy, state: EventState, startsAt: Date? = nil,
            endsAt: Date? = nil, contentState: RawJSON? = nil, timestamp: Int? = nil
        ) {
            self.eventKey = eventKey
            self.channelId = channelId
            self.delivery = delivery
            self.variant = variant
            self.variants = variants
            self.storagePolicy = storagePolicy
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.contentState = contentState
            self.timestamp = timestamp
        }
    }

    /// An event that an app may offer to follow.
    public struct Followable: Codable, Sendable, Hashable, ContractAnswer {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// Apple's ID of the channel. null while there is none yet, and where delivery is tokens.
        public var channelId: String?
        /// Only where it is tokens: the event has no channel for this app.
        public var delivery: AudienceDelivery?
        /// The variant of the audience, if it has one.
        public var variant: String?
        /// Whether APNs stores the newest message of a channel for devices that are offline. A channel keeps its policy
        /// for its whole life.
        public var storagePolicy: StoragePolicy
        /// The states of events that people can still follow.
        public var state: FollowableState
        /// When the event is planned to start.
        public var startsAt: Date?
        /// When the event is planned to end.
        public var endsAt: Date?
        /// A name for people, at most 200 characters in any language, without control characters.
        public var name: String
        /// A word by which organisers filter events.
        public var kind: String?
        /// What people follow to get its start.
        public var topics: [String]

        package static let leftOut = ["delivery", "variant"]

        /// The members of the other object, and these.
        package init(state: FollowableState, name: String, kind: String? = nil, topics: [String], _ base: Lookup) {
            self.eventKey = base.eventKey
            self.channelId = base.channelId
            self.delivery = base.delivery
            self.variant = base.variant
            self.storagePolicy = base.storagePolicy
            self.state = state
            self.startsAt = base.startsAt
            self.endsAt = base.endsAt
            self.name = name
            self.kind = kind
            self.topics = topics
        }
    }

    /// A page of events that an app may offer to follow.
    public typealias FollowablePage = Page<Followable>

    /// Which events to look up.
    public struct LookupBatch: Codable, Sendable, Hashable {
        /// Keys of events. One that cannot be a key is reported as missing.
        public var eventKeys: [String]

        /// Members that are `nil` are left out.
        public init(eventKeys: [String]) {
            self.eventKeys = eventKeys
        }
    }

    /// The lookups that found a channel, and the reason for each that did not.
    public struct LookupBatchAnswer: Codable, Sendable, Hashable {
        /// Those that were found, in the order of the request.
        public var items: [Lookup]
        /// Those that were not found, in the order of the request.
        public var missing: [MissingLookup]

        /// Members that are `nil` are left out.
        public init(items: [Lookup], missing: [MissingLookup]) {
            self.items = items
            self.missing = missing
        }
    }

    /// An event of a batch without a channel.
    public struct MissingLookup: Codable, Sendable, Hashable {
        /// As it was asked for.
        public var eventKey: String
        /// Why a lookup of one event in a batch found no channel.
        public var reason: MissingReason

        /// Members that are `nil` are left out.
        public init(eventKey: String, reason: MissingReason) {
            self.eventKey = eventKey
            self.reason = reason
        }
    }
}
