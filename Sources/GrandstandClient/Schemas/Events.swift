public import Foundation

extension GrandstandClient {
    /// What declares an event; the server makes its channels so.
    public struct EventDraft: Sendable, Hashable, Codable {
        /// What people know it by.
        public var name: String
        /// A word for filtering, e.g. football.
        public var kind: String?
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// When channels are opened; at once without it.
        public var channelsOpenAt: Date?
        /// Seconds before startsAt, which it needs: an event that moves takes the opening of its channels with it.
        /// Not together with channelsOpenAt.
        public var channelsOpenBefore: Int?
        /// Who it is for.
        public var audiences: [Audience]
        /// Yours to keep with it.
        public var metadata: RawJSON?
        /// What people follow to get its start.
        public var topics: [String]?
        /// The push that starts its Live Activity.
        public var start: StartDraft?
        /// What its messages have that say nothing themselves.
        public var defaults: EventDefaults?

        /// What is left out is not said.
        public init(
            name: String, kind: String? = nil, startsAt: Date? = nil, endsAt: Date? = nil,
            channelsOpenAt: Date? = nil, channelsOpenBefore: Int? = nil, audiences: [Audience],
            metadata: RawJSON? = nil, topics: [String]? = nil, start: StartDraft? = nil,
            defaults: EventDefaults? = nil
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
        }
    }

    /// What an event's messages have that say nothing themselves.
    public struct EventDefaults: Sendable, Hashable, Codable {
        /// 1, 5 or 10.
        public var priority: Int?
        /// Seconds until a message's content is out of date.
        public var staleAfter: Int?
        /// Seconds after which it is not worth sending any more.
        public var expiresIn: Int?
        /// Which of several activities goes first.
        public var relevanceScore: Double?

        /// What is left out is not said.
        public init(
            priority: Int? = nil, staleAfter: Int? = nil, expiresIn: Int? = nil, relevanceScore: Double? = nil
        ) {
            self.priority = priority
            self.staleAfter = staleAfter
            self.expiresIn = expiresIn
            self.relevanceScore = relevanceScore
        }
    }

    /// An event and the channel of each audience.
    public struct Event: Sendable, Hashable, Codable {
        /// The organiser's name for it.
        public var key: String
        /// What people know it by.
        public var name: String
        /// A word for filtering, e.g. football.
        public var kind: String?
        /// How far it has come.
        public var state: EventState
        /// When it is planned to start.
        public var startsAt: Date?
        /// When it is planned to end.
        public var endsAt: Date?
        /// When channels are opened; at once without it.
        public var channelsOpenAt: Date?
        /// The same in seconds before startsAt.
        public var channelsOpenBefore: Int?
        /// Who it is for.
        public var audiences: [EventAudience]
        /// Yours to keep with it.
        public var metadata: RawJSON
        /// What people follow to get its start.
        public var topics: [String]
        /// The push that starts its Live Activity.
        public var start: StartDraft?
        /// What its messages have that say nothing themselves.
        public var defaults: EventDefaults?
        /// When it was made.
        public var createdAt: Date
        /// When it was changed last.
        public var updatedAt: Date
        /// What its declaration cost and nobody can take back, as the followers of a channel that another storage policy
        /// replaces. Only in the answer to a declaration.
        public var warnings: [String]?
    }
}
