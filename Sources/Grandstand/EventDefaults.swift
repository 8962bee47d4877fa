package import APNsWire
package import FoundationEssentials
package import JSON

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

    /// The longest that anything of an activity is on a lock screen (docs/internals/apns.md section 4).
    package static let maximumStaleAfter = APNsLimits.activityLifetime + APNsLimits.endedActivityLifetime

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

// MARK: JSON

extension EventDefaults: JSONObjectWritable {
    /// As they were declared, without the members that were left out.
    package func write(members object: inout JSONWriter) {
        if let priority { object.member("priority", priority.rawValue) }
        if let staleAfter { object.member("staleAfter", staleAfter) }
        if let expiresIn { object.member("expiresIn", expiresIn) }
        if let relevanceScore { object.member("relevanceScore", raw: relevanceScore) }
    }

    /// Reads them off an object, leaving faults with `fields`.
    package init(_ fields: inout JSONFields) {
        self.init(
            priority: fields.priority(),
            staleAfter: fields.integer("staleAfter", in: 1...Self.maximumStaleAfter),
            expiresIn: fields.integer("expiresIn", in: 1...APNsLimits.storedMessageLifetime),
            relevanceScore: fields.number("relevanceScore"))
    }

    /// Reads what `write` wrote.
    package init(parsing text: [UInt8]) throws(Problem) {
        var fields = JSONFields(try JSONValue(parsing: text))
        self.init(&fields)
        try fields.finish()
    }
}

extension JSONFields {
    /// One of Apple's three priorities.
    package mutating func priority(_ name: String = "priority") -> APNsPriority? {
        guard let value = value(name) else { return nil }
        guard let priority = Self.integer(value).flatMap(APNsPriority.init) else {
            fault(name, "1, 5 or 10 was expected.")
            return nil
        }
        return priority
    }
}
