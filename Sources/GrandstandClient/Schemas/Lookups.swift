public import Foundation

extension GrandstandClient {
    /// The channel of an event, for an app that starts a Live Activity.
    public struct Lookup: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// null with delivery tokens; of a followable also while the channel is not there yet.
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
    }

    /// An event that an app may offer to follow, with its channel as far as it is there, and without content.
    public typealias Followable = Joined<Lookup, Offer>

    /// What people are offered.
    public struct Offer: Sendable, Hashable, Codable {
        /// What people know it by.
        public var name: String
        /// A word for filtering, e.g. football.
        public var kind: String?
        /// What people follow to get its start.
        public var topics: [String]
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
