internal import APNsWire
package import FoundationEssentials
package import JSON

/// The facts that a webhook message is made of, as they were when the reported change happened.
package enum WebhookFacts: Sendable {
    case broadcast(SettledBroadcast)
    /// A channel, and the channel that it replaced.
    case channel(Channel, replaced: (id: UUID, channelID: String?)?)
    /// JSON that the database stored for the webhook when the change happened.
    case detail(JSONValue)
    /// - Parameter by: the actor, as the audit log names it.
    case test(webhook: UUID, by: String)
}

/// A broadcast all of whose deliveries are settled.
package struct SettledBroadcast: Sendable {
    package var summary: BroadcastSummary
    package var eventKey: EventKey?
    /// The server's ID of the channel, if the broadcast was to a channel without an event.
    package var channel: UUID?
    package var settledAt: Date
    /// Why deliveries were rejected or expired, and how many for each reason, ordered by reason.
    package var reasons: [(reason: String, count: Int)]

    package init(
        summary: BroadcastSummary, eventKey: EventKey?, channel: UUID?, settledAt: Date,
        reasons: [(reason: String, count: Int)]
    ) {
        self.summary = summary
        self.eventKey = eventKey
        self.channel = channel
        self.settledAt = settledAt
        self.reasons = reasons
    }
}
