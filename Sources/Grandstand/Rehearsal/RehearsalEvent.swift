package import FoundationEssentials

/// The facts of a declared event that a dress rehearsal needs.
package struct RehearsalEvent: Sendable, Hashable {
    package var key: String
    package var startsAt: Date?
    /// `nil`: the organiser gives no end.
    package var endsAt: Date?
    /// When its channels open; `nil`: as soon as it is declared.
    package var opensAt: Date?
    /// Whether a push starts the event's activity.
    package var hasStart: Bool
    package var topics: [String]
    /// Whether at least one audience of the event has a content type, which checks contents.
    package var hasContentType: Bool

    package init(
        key: String, startsAt: Date? = nil, endsAt: Date? = nil, opensAt: Date? = nil, hasStart: Bool = false,
        topics: [String] = [], hasContentType: Bool = false
    ) {
        self.key = key
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.opensAt = opensAt
        self.hasStart = hasStart
        self.topics = topics
        self.hasContentType = hasContentType
    }

    /// Seconds that an event without `endsAt` is taken to last.
    package static let standardDuration: TimeInterval = 7_200

    /// From `startsAt` to the event's end; `nil` without `startsAt`.
    package var span: Range<Date>? {
        guard let startsAt else { return nil }
        let end = endsAt.flatMap { $0 > startsAt ? $0 : nil } ?? startsAt.addingTimeInterval(Self.standardDuration)
        return startsAt..<end
    }
}
