package import APNsWire
package import FoundationEssentials
package import GrandstandContract

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

/// An event as its organiser declares it: a checked `Contract.EventDraft`, with its audiences and its start as the rules
/// need them.
@dynamicMemberLookup
package struct EventSpecification: Sendable, Hashable {
    package var key: EventKey
    /// Everything but the audiences and the start, which are left out here.
    package var draft: Contract.EventDraft
    package var audiences: [Audience]
    /// The push that starts the event's activity; `nil`: there is none.
    package var start: Contract.Start?

    /// - Parameter draft: its audiences and its start are ignored.
    package init(key: EventKey, _ draft: Contract.EventDraft, audiences: [Audience], start: Contract.Start? = nil) {
        (self.key, self.draft, self.audiences, self.start) = (key, draft, audiences, start)
        (self.draft.audiences, self.draft.start, self.draft.topics) = ([], nil, draft.topics ?? [])
        if draft.defaults?.isEmpty == true { self.draft.defaults = nil }
    }

    /// A member of the draft.
    package subscript<Value>(dynamicMember member: WritableKeyPath<Contract.EventDraft, Value>) -> Value {
        get { draft[keyPath: member] }
        set { draft[keyPath: member] = newValue }
    }

    /// When channels are created; `nil`: at once.
    package var opensAt: Date? {
        Self.opensAt(draft.channelsOpenAt, before: draft.channelsOpenBefore, startsAt: draft.startsAt)
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
        if let endsAt = draft.endsAt { return endsAt > now }
        return [draft.startsAt, opensAt].contains { $0.map { $0 > now } ?? false }
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

extension Contract.EventDefaults {
    package var isEmpty: Bool { self == Contract.EventDefaults() }

    /// When the content of a message sent at `time` becomes stale, in seconds since 1970.
    package func staleDate(at time: Date) -> Int? {
        staleAfter.map { Int(time.timeIntervalSince1970.rounded(.down)) + $0 }
    }
}

extension BroadcastRequest {
    /// The request with the event's defaults in place of values that the request does not set.
    ///
    /// - Parameter time: when the message is sent.
    package func filled(by defaults: Contract.EventDefaults, at time: Date) -> BroadcastRequest {
        var request = self
        request.eventPriority = defaults.priority.flatMap(APNsPriority.init(rawValue:))
        // Activities that miss an `end` would stay, so an `end` does not expire early.
        if payload.event == .update, apnsExpiration == nil { request.expiresIn = expiresIn ?? defaults.expiresIn }
        request.payload.staleDate = payload.staleDate ?? defaults.staleDate(at: time)
        request.payload.relevanceScore = payload.relevanceScore ?? defaults.relevanceScore.map { Array($0.bytes) }
        return request
    }
}

extension APNsPriority {
    /// - Throws: `internal-error` for a number that openapi.yaml does not allow.
    package init?(_ number: Int?) throws(Problem) {
        guard let number else { return nil }
        guard let priority = APNsPriority(rawValue: number) else {
            throw Problem(.internalError, "openapi.yaml allows a priority that this server does not know.")
        }
        self = priority
    }
}
