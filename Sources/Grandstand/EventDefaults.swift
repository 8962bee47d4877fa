package import APNsWire
package import FoundationEssentials
package import GrandstandContract
internal import JSON

/// Values that the messages of an event get if they do not set their own.
package struct EventDefaults: Sendable, Hashable {
    package var priority: APNsPriority?
    /// Seconds from a message's acceptance, or its `sendAt`, until its content is stale. For the content of a start:
    /// seconds from the push.
    package var staleAfter: Int?
    /// Seconds for which an update is worth sending. This value does not apply to an `end`, because activities that
    /// miss the `end` would stay.
    package var expiresIn: Int?
    /// The JSON number as the organiser wrote it.
    package var relevanceScore: [UInt8]?

    package init(
        priority: APNsPriority? = nil, staleAfter: Int? = nil, expiresIn: Int? = nil, relevanceScore: [UInt8]? = nil
    ) {
        self.priority = priority
        self.staleAfter = staleAfter
        self.expiresIn = expiresIn
        self.relevanceScore = relevanceScore
    }

    package var isEmpty: Bool { self == EventDefaults() }

    /// When the content of a message sent at `time` becomes stale, in seconds since 1970.
    package func staleDate(at time: Date) -> Int? {
        staleAfter.map { Int(time.timeIntervalSince1970.rounded(.down)) + $0 }
    }
}

extension BroadcastRequest {
    /// The request with the event's defaults in place of values that the request does not set.
    ///
    /// - Parameter time: when the message is sent.
    package func filled(by defaults: EventDefaults, at time: Date) -> BroadcastRequest {
        var request = self
        request.eventPriority = defaults.priority
        if payload.event == .update, apnsExpiration == nil { request.expiresIn = expiresIn ?? defaults.expiresIn }
        request.payload.staleDate = payload.staleDate ?? defaults.staleDate(at: time)
        request.payload.relevanceScore = payload.relevanceScore ?? defaults.relevanceScore
        return request
    }
}

extension EventDefaults {
    /// - Throws: `internal-error` for what openapi.yaml does not allow.
    package init(_ defaults: Contract.EventDefaults) throws(Problem) {
        self.init(
            priority: try APNsPriority(defaults.priority), staleAfter: defaults.staleAfter,
            expiresIn: defaults.expiresIn, relevanceScore: defaults.relevanceScore?.array)
    }

    /// Reads the text of `Contract.EventDefaults`.
    package init(parsing text: [UInt8]) throws(Problem) {
        try self.init(try Contract.EventDefaults.read(try JSONValue(parsing: text)))
    }
}

extension Contract.EventDefaults {
    /// The defaults as declared, without members that were left out.
    package init(_ defaults: EventDefaults) {
        self.init(
            priority: defaults.priority?.rawValue, staleAfter: defaults.staleAfter, expiresIn: defaults.expiresIn,
            relevanceScore: defaults.relevanceScore.map(RawJSON.init(unchecked:)))
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
