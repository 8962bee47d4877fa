package import APNsWire
package import FoundationEssentials
package import GrandstandContract
internal import JSON

/// The values that an event's messages take where they give none.
package struct EventDefaults: Sendable, Hashable {
    package var priority: APNsPriority?
    /// Seconds after its acceptance, or its `sendAt`, from which a message's content is stale; of a start's own
    /// content, after the push.
    package var staleAfter: Int?
    /// Seconds until an update stops being worth sending. Not for an `end`: activities that never got it would stay.
    package var expiresIn: Int?
    /// The text of a number.
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

    /// From when on the content of a message is stale that is sent at a time, in seconds since 1970.
    package func staleDate(at time: Date) -> Int? {
        staleAfter.map { Int(time.timeIntervalSince1970.rounded(.down)) + $0 }
    }
}

extension BroadcastRequest {
    /// The request with what its event says where it says nothing itself.
    ///
    /// - Parameter time: when it is sent.
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
            expiresIn: defaults.expiresIn, relevanceScore: defaults.relevanceScoreText?.bytes)
    }

    /// Reads the text of `Contract.EventDefaults`.
    package init(parsing text: [UInt8]) throws(Problem) {
        try self.init(try Contract.EventDefaults.read(try JSONValue(parsing: text)))
    }
}

extension Contract.EventDefaults {
    /// As they were declared, without the members that were left out.
    package init(_ defaults: EventDefaults) {
        self.init(
            priority: defaults.priority?.rawValue, staleAfter: defaults.staleAfter, expiresIn: defaults.expiresIn)
        relevanceScoreText = defaults.relevanceScore.flatMap(KeptNumber.init)
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
