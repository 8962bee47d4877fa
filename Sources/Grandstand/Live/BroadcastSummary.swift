package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// A broadcast as the live view shows it, with the number of its deliveries in each state.
package struct BroadcastSummary: Sendable, Hashable {
    package var id: UUID
    package var event: BroadcastPayload.Event
    package var acceptedAt: Date
    package var sendAt: Date?
    package var isScheduled: Bool
    /// Whether the broadcast was withdrawn, or its event was over at `sendAt`.
    package var isCancelled: Bool
    /// Deliveries in each state; states with none are left out.
    package var counts: [Delivery.State: Int]

    package init(
        id: UUID, event: BroadcastPayload.Event, acceptedAt: Date, sendAt: Date?, isScheduled: Bool,
        isCancelled: Bool = false, counts: [Delivery.State: Int]
    ) {
        self.id = id
        self.event = event
        self.acceptedAt = acceptedAt
        self.sendAt = sendAt
        self.isScheduled = isScheduled
        self.isCancelled = isCancelled
        self.counts = counts
    }

    package var state: Broadcast.State {
        Broadcast.State(isScheduled: isScheduled, isCancelled: isCancelled, deliveries: counts.keys)
    }
}

extension Contract.BroadcastSummary {
    package init(_ summary: BroadcastSummary) {
        self.init(
            id: summary.id.words, event: .init(summary.event),
            state: .init(summary.state), acceptedAt: summary.acceptedAt, sendAt: summary.sendAt,
            counts: Dictionary(uniqueKeysWithValues: summary.counts.map { ($0.key.rawValue, $0.value) }))
    }
}
