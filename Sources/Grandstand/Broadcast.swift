package import APNsWire
package import FoundationEssentials

/// What an organiser asks to be sent, as it came.
package struct BroadcastRequest: Sendable, Hashable {
    package var payload: BroadcastPayload
    /// `nil`: chosen by `DeliveryPlan`.
    package var priority: APNsPriority?
    /// Seconds until this content stops being worth sending.
    package var expiresIn: Int?
    /// The `apns-expiration` header itself; not together with `expiresIn`.
    package var apnsExpiration: Int?
    /// Accepted now, sent then.
    package var sendAt: Date?
    /// Only these audiences; `nil`: all of the event's.
    package var audiences: [Audience.Selector]?

    package init(
        payload: BroadcastPayload, priority: APNsPriority? = nil, expiresIn: Int? = nil, apnsExpiration: Int? = nil,
        sendAt: Date? = nil, audiences: [Audience.Selector]? = nil
    ) {
        self.payload = payload
        self.priority = priority
        self.expiresIn = expiresIn
        self.apnsExpiration = apnsExpiration
        self.sendAt = sendAt
        self.audiences = audiences
    }
}

/// An accepted broadcast and what has become of its deliveries.
package struct Broadcast: Sendable, Hashable {
    package var id: UUID
    package var eventKey: EventKey?
    package var event: BroadcastPayload.Event
    package var acceptedAt: Date
    package var sendAt: Date?
    /// Whether it still waits for `sendAt`; it has no deliveries until then.
    package var isScheduled: Bool
    package var deliveries: [Delivery]
    package var warnings: [String]
    /// Who asked for it, as the audit log names its actors; `nil`: it was accepted before that was kept.
    package var by: String?

    package init(
        id: UUID, eventKey: EventKey?, event: BroadcastPayload.Event, acceptedAt: Date, sendAt: Date?,
        isScheduled: Bool, deliveries: [Delivery], warnings: [String], by: String? = nil
    ) {
        self.id = id
        self.eventKey = eventKey
        self.event = event
        self.acceptedAt = acceptedAt
        self.sendAt = sendAt
        self.isScheduled = isScheduled
        self.deliveries = deliveries
        self.warnings = warnings
        self.by = by
    }

    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Waits for its `sendAt`.
        case scheduled
        /// Some delivery is not settled yet.
        case queued
        /// Every delivery is settled.
        case done
    }

    package var state: State {
        if isScheduled { return .scheduled }
        return deliveries.allSatisfy(\.state.isSettled) ? .done : .queued
    }

    /// How many deliveries are in each state; states with none are left out.
    package var counts: [(state: Delivery.State, count: Int)] {
        Delivery.State.allCases.compactMap { state in
            let count = deliveries.count { $0.state == state }
            return count == 0 ? nil : (state, count)
        }
    }
}
