package import APNsWire
package import FoundationEssentials

/// The preview of a state, as if the server accepted it now.
package struct StateRehearsal: Sendable, Hashable {
    package var outcome: StateOutcome
    /// The index in the content type's `rings` of the rule that matches; `nil`: none does.
    package var rule: Int?
    /// When the message of the state would be sent; `nil`: nothing is sent.
    package var goesAt: Date?
    package var broadcast: BroadcastRehearsal?

    package init(outcome: StateOutcome, rule: Int? = nil, goesAt: Date? = nil, broadcast: BroadcastRehearsal? = nil) {
        self.outcome = outcome
        self.rule = rule
        self.goesAt = goesAt
        self.broadcast = broadcast
    }
}

/// The preview of a broadcast, as if the server accepted it now. The preview reserves nothing, so other broadcasts may
/// be sent before the real one.
package struct BroadcastRehearsal: Sendable, Hashable {
    /// The message that one audience would get, by its channel or by its tokens.
    package struct Part: Sendable, Hashable {
        package var audience: Audience
        package var kind: Lane.Kind
        package var payload: BroadcastPayload
        package var priority: APNsPriority
        /// The `apns-expiration` header.
        package var apnsExpiration: Int
        /// The size of the body that APNs would get.
        package var bytes: Int
        /// Waiting broadcasts that this one would replace, so that they would not be sent.
        package var replaces: [UUID]

        package init(
            audience: Audience, kind: Lane.Kind, payload: BroadcastPayload, priority: APNsPriority, apnsExpiration: Int,
            bytes: Int, replaces: [UUID]
        ) {
            self.audience = audience
            self.kind = kind
            self.payload = payload
            self.priority = priority
            self.apnsExpiration = apnsExpiration
            self.bytes = bytes
            self.replaces = replaces
        }
    }

    package var event: BroadcastPayload.Event
    package var goesAt: Date
    package var isScheduled: Bool
    /// When the server would stop trying to send the broadcast.
    package var expiresAt: Date
    package var warnings: [String]
    /// In the order of the event's audiences.
    package var parts: [Part]

    package init(
        event: BroadcastPayload.Event, goesAt: Date, isScheduled: Bool, expiresAt: Date, warnings: [String],
        parts: [Part]
    ) {
        self.event = event
        self.goesAt = goesAt
        self.isScheduled = isScheduled
        self.expiresAt = expiresAt
        self.warnings = warnings
        self.parts = parts
    }
}
