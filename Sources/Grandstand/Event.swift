package import FoundationEssentials

/// An event as its organiser declares it: the specification the server makes true.
package struct EventSpecification: Sendable, Hashable {
    package var key: EventKey
    package var name: String
    /// A free word of the organiser's to filter by: "match", "flight".
    package var kind: String?
    package var startsAt: Date?
    package var endsAt: Date?
    /// Channels are created at this time instead of at once.
    package var channelsOpenAt: Date?
    /// Seconds before `startsAt` at which channels are created, so that a fixture that moves takes that with it; not
    /// together with `channelsOpenAt`.
    package var channelsOpenBefore: Int?
    package var audiences: [Audience]
    /// JSON object text, kept as written.
    package var metadata: [UInt8]?
    /// Followers of one of them get its start.
    package var topics: [Topic]
    /// The push that starts its activity; `nil`: none does.
    package var start: StartDeclaration?
    /// Of its messages.
    package var defaults: EventDefaults
    /// The name of the content type of audiences that name none.
    package var content: String?

    package init(
        key: EventKey, name: String, kind: String? = nil, startsAt: Date? = nil, endsAt: Date? = nil,
        channelsOpenAt: Date? = nil, channelsOpenBefore: Int? = nil, audiences: [Audience], metadata: [UInt8]? = nil,
        topics: [Topic] = [], start: StartDeclaration? = nil, defaults: EventDefaults = EventDefaults(),
        content: String? = nil
    ) {
        self.content = content
        self.key = key
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

    /// When channels are created; `nil`: at once.
    package var opensAt: Date? {
        guard let channelsOpenBefore, let startsAt else { return channelsOpenAt }
        return startsAt.addingTimeInterval(-Double(channelsOpenBefore))
    }

    /// Whether the event is declared to go on after `now`: its end is to come, or, when it says none, its beginning.
    package func reaches(beyond now: Date) -> Bool {
        if let endsAt { return endsAt > now }
        return [startsAt, opensAt].contains { $0.map { $0 > now } ?? false }
    }
}

/// An event with what has become of it.
package struct Event: Sendable, Hashable {
    package var specification: EventSpecification
    package var state: State
    /// In the order of the specification.
    package var channels: [Audience.ChannelStatus]
    package var createdAt: Date
    package var updatedAt: Date
    /// When its end or cancellation was last taken back; `nil`: never.
    package var reopenedAt: Date?
    /// Another one each time the specification is written.
    package var version: Int
    /// What its declaration cost and nobody can take back; `nil`: it was read, not declared just now.
    package var warnings: [String]?

    package init(
        specification: EventSpecification, state: State, channels: [Audience.ChannelStatus], createdAt: Date,
        updatedAt: Date, reopenedAt: Date? = nil, version: Int = 0
    ) {
        self.specification = specification
        self.state = state
        self.channels = channels
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.reopenedAt = reopenedAt
        self.version = version
    }

    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Before `startsAt`, and nothing was sent yet.
        case scheduled
        case live
        /// An `end` was accepted, until that is withdrawn or the event is opened again. Or the clock closed it, since neither
        /// an `end` nor anything else came: it lives again when its end is moved into the future, too.
        case ended
        /// Deleted by its organiser, until it is opened again.
        case cancelled

        /// Whether the event takes no more broadcasts.
        package var isOver: Bool { self == .ended || self == .cancelled }

        /// Reads the state off the moments that make it: an event is live from its start, or from its first update
        /// when that comes earlier or no start is known.
        package init(startsAt: Date?, firstUpdateAt: Date?, endedAt: Date?, cancelledAt: Date?, now: Date) {
            if cancelledAt != nil {
                self = .cancelled
            } else if endedAt != nil {
                self = .ended
            } else if firstUpdateAt != nil || startsAt.map({ $0 <= now }) ?? false {
                self = .live
            } else {
                self = .scheduled
            }
        }
    }
}
