package import APNsWire
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
    package var id: UUID
    package var event: BroadcastPayload.Event
    package var acceptedAt: Date
    /// Whether the broadcast was withdrawn, or its event was over at `sendAt`.
    package var isCancelled: Bool
    /// Deliveries in each state; states with none are left out.
    package var counts: [Delivery.State: Int]
    package var eventKey: EventKey?
    /// The server's ID of the channel, if the broadcast was to a channel without an event.
    package var channel: UUID?
    package var settledAt: Date
    /// Why deliveries were rejected or expired, and how many for each reason, ordered by reason.
    package var reasons: [(reason: String, count: Int)]

    package init(
        id: UUID, event: BroadcastPayload.Event, acceptedAt: Date, isCancelled: Bool = false,
        counts: [Delivery.State: Int], eventKey: EventKey?, channel: UUID?, settledAt: Date,
        reasons: [(reason: String, count: Int)]
    ) {
        self.id = id
        self.event = event
        self.acceptedAt = acceptedAt
        self.isCancelled = isCancelled
        self.counts = counts
        self.eventKey = eventKey
        self.channel = channel
        self.settledAt = settledAt
        self.reasons = reasons
    }

    var state: Broadcast.State {
        Broadcast.State(isScheduled: false, isCancelled: isCancelled, deliveries: counts.keys)
    }
}
