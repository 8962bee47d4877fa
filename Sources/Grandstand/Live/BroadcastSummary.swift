package import APNsWire
package import FoundationEssentials
package import JSON

/// A broadcast as the live view shows it, with the number of its deliveries in each state.
package struct BroadcastSummary: Sendable, Hashable {
    package var id: UUID
    package var event: BroadcastPayload.Event
    package var acceptedAt: Date
    package var sendAt: Date?
    package var isScheduled: Bool
    /// Whether it was withdrawn, or its event was over at `sendAt`.
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

extension BroadcastSummary: JSONObjectWritable {
    /// The counts in the order of the states.
    var orderedCounts: [(String, Int)] {
        Delivery.State.allCases.compactMap { state in counts[state].map { (state.rawValue, $0) } }
    }

    package func write(members object: inout JSONWriter) {
        object.member("id", id)
        object.member("event", event.rawValue)
        object.member("state", state.rawValue)
        object.member("acceptedAt", acceptedAt)
        if sendAt != nil { object.member("sendAt", sendAt) }
        object.member("counts", counts: orderedCounts)
    }
}
