package import FoundationEssentials
package import GrandstandContract

/// An event as its organiser declares it. It has more than `Contract.EventDraft`: checked names, audiences that can be
/// compared, and the start as its rules need it.
package struct EventSpecification: Sendable, Hashable {
    package var key: EventKey
    package var name: String
    /// A word of the organiser's choice to filter by, such as "match" or "flight".
    package var kind: String?
    package var startsAt: Date?
    package var endsAt: Date?
    /// When channels are created; `nil`: at once, or `channelsOpenBefore` decides.
    package var channelsOpenAt: Date?
    /// Seconds before `startsAt` at which channels are created. This time moves with `startsAt`; without `startsAt`,
    /// channels wait until there is one. It cannot be combined with `channelsOpenAt`.
    package var channelsOpenBefore: Int?
    package var audiences: [Audience]
    /// JSON object text, stored exactly as written.
    package var metadata: [UInt8]?
    /// Followers of any of these topics get the event's start.
    package var topics: [Topic]
    /// The push that starts the event's activity; `nil`: there is none.
    package var start: Contract.Start?
    /// Default values of its messages.
    package var defaults: Contract.EventDefaults
    /// The content type of audiences that do not name one.
    package var content: String?

    package init(
        key: EventKey, name: String, kind: String? = nil, startsAt: Date? = nil, endsAt: Date? = nil,
        channelsOpenAt: Date? = nil, channelsOpenBefore: Int? = nil, audiences: [Audience], metadata: [UInt8]? = nil,
        topics: [Topic] = [], start: Contract.Start? = nil, defaults: Contract.EventDefaults = .init(),
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
        Self.opensAt(channelsOpenAt, before: channelsOpenBefore, startsAt: startsAt)
    }

    /// When channels are created, by the members of a declaration.
    package static func opensAt(_ channelsOpenAt: Date?, before seconds: Int?, startsAt: Date?) -> Date? {
        guard let seconds else { return channelsOpenAt }
        return startsAt?.addingTimeInterval(-Double(seconds)) ?? undated
    }

    /// 2090-01-01, the time of what waits for a `startsAt` that is not declared yet.
    package static let undated = Date(timeIntervalSince1970: 3_786_912_000)

    /// Whether the declared end is after `now`. If no end is declared: whether `startsAt` or the creation of the
    /// channels is after `now`.
    package func reaches(beyond now: Date) -> Bool {
        if let endsAt { return endsAt > now }
        return [startsAt, opensAt].contains { $0.map { $0 > now } ?? false }
    }
}

extension Contract.EventState {
    /// Whether the event accepts no more broadcasts.
    package var isOver: Bool {
        switch self {
        case .ended, .cancelled: true
        case .scheduled, .live, .unknown: false
        }
    }

    /// Derives the state from the event's times. An event is live from its start on, or from its first update if that is
    /// earlier or the start is unknown.
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
