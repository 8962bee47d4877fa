package import FoundationEssentials
package import GrandstandContract
internal import JSON

/// The organiser's name for an event, such as a match or a flight.
package struct EventKey: RawRepresentable, Decodable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow.
    package init?(rawValue: String) {
        guard TextRule.eventKey.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The rule in one sentence, for error texts.
    package static let rule = TextRule.eventKey.sentence

    package var description: String { rawValue }
}

extension Contract.EventDraft {
    /// The season that the metadata names, such as a league or a cup; `nil`: it names none.
    package var season: String? {
        let metadata = metadata.flatMap { try? JSONValue(parsing: $0.utf8) }
        return metadata?["season"]?["name"]?.string.flatMap { TextRule.seasonName.accepts($0) ? $0 : nil }
    }

    /// When channels are created; `nil`: at once.
    package var channelsDueAt: Date? {
        Self.channelsDueAt(channelsOpenAt, before: channelsOpenBefore, startsAt: startsAt)
    }

    /// When channels are created, by the members of a declaration.
    package static func channelsDueAt(_ channelsOpenAt: Date?, before seconds: Int?, startsAt: Date?) -> Date? {
        guard let seconds else { return channelsOpenAt }
        return startsAt?.addingTimeInterval(-Double(seconds)) ?? .undated
    }

    /// Whether the declared end is after `now`. If no end is declared: whether `startsAt` or the creation of the
    /// channels is after `now`.
    package func reaches(beyond now: Date) -> Bool {
        if let endsAt { return endsAt > now }
        return [startsAt, channelsDueAt].contains { $0.map { $0 > now } ?? false }
    }
}

extension Date {
    /// 2090-01-01, the time of what waits for a `startsAt` that is not declared yet.
    package static let undated = Date(timeIntervalSince1970: 3_786_912_000)
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
