public import Foundation

extension GrandstandClient {
    /// The channel of an event, for an app that starts a Live Activity.
    public struct Lookup: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// null with delivery tokens only.
        public var channelId: String?
        /// Only where it is tokens: the event has no channel for this app. Start the activity with a token of its
        /// own, and report that.
        public var delivery: AudienceDelivery?
        /// Of the audience that was found, where it has one.
        public var variant: String?
        /// Whether APNs stores the newest message for phones that are offline.
        public var storagePolicy: StoragePolicy
        /// How far it has come.
        public var state: EventState
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// The content, byte for byte.
        public var contentState: RawJSON?
        /// aps.timestamp of the message.
        public var timestamp: Int?

        /// What is left out is not said.
        public init(
            eventKey: String, channelId: String? = nil, delivery: AudienceDelivery? = nil, variant: String? = nil,
            storagePolicy: StoragePolicy, state: EventState, startsAt: Date? = nil, endsAt: Date? = nil,
            contentState: RawJSON? = nil, timestamp: Int? = nil
        ) {
            self.eventKey = eventKey
            self.channelId = channelId
            self.delivery = delivery
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.contentState = contentState
            self.timestamp = timestamp
        }
    }

    /// An event that an app may offer to follow.
    public struct Followable: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// null while the channel is not there yet, and with delivery tokens.
        public var channelId: String?
        /// Only where it is tokens.
        public var delivery: AudienceDelivery?
        /// Only where the audience has one.
        public var variant: String?
        /// Whether APNs stores the newest message for phones that are offline.
        public var storagePolicy: StoragePolicy
        /// How far it has come.
        public var state: EventState
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// What people know it by.
        public var name: String
        /// A word for filtering, e.g. football.
        public var kind: String?
        /// What people follow to get its start.
        public var topics: [String]

        /// What is left out is not said.
        public init(
            eventKey: String, channelId: String? = nil, delivery: AudienceDelivery? = nil, variant: String? = nil,
            storagePolicy: StoragePolicy, state: EventState, startsAt: Date? = nil, endsAt: Date? = nil, name: String,
            kind: String? = nil, topics: [String]
        ) {
            self.eventKey = eventKey
            self.channelId = channelId
            self.delivery = delivery
            self.variant = variant
            self.storagePolicy = storagePolicy
            self.state = state
            self.startsAt = startsAt
            self.endsAt = endsAt
            self.name = name
            self.kind = kind
            self.topics = topics
        }
    }

    /// Events to look up, 1 to 100.
    public struct LookupBatch: Sendable, Hashable, Codable {
        /// The events, 1 to 100.
        public var eventKeys: [String]

        /// What is left out is not said.
        public init(eventKeys: [String]) {
            self.eventKeys = eventKeys
        }
    }

    /// What is known of a batch, and why the rest is not there.
    public struct LookupBatchAnswer: Sendable, Hashable, Codable {
        /// The entries.
        public var items: [Lookup]
        /// What is not there.
        public var missing: [MissingLookup]
    }

    /// Why an event of a batch was not found.
    public struct MissingLookup: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// Why, in a word of Apple's or of the server's.
        public var reason: MissingReason
    }
}
