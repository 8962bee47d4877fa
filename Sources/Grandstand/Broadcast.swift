package import APNsWire
package import FoundationEssentials

/// An organiser's request for a broadcast, as the server received it.
package struct BroadcastRequest: Sendable, Hashable {
    package var payload: BroadcastPayload
    /// Content or alert that replaces the general one for some variants.
    package var byVariant: [Variant: BroadcastContent.Override] = [:]
    /// The priority in the request; `nil`: `DeliveryPlan` chooses the priority.
    package var priority: APNsPriority?
    /// The event's default priority. The priority of an audience takes precedence.
    package var eventPriority: APNsPriority?
    /// Seconds for which this content is worth sending.
    package var expiresIn: Int?
    /// The value of the `apns-expiration` header. A request cannot have both this and `expiresIn`.
    package var apnsExpiration: Int?
    /// When to send the broadcast; `nil`: now.
    package var sendAt: Date?
    /// Seconds from the start of the event to `sendAt`; negative before the start. `nil`: the request had `sendAt`
    /// itself, or no time at all.
    package var sendAfterStart: Int?
    /// The audiences that get the broadcast; `nil`: all audiences of the event.
    package var audiences: [AudienceSelector]?

    package init(
        payload: BroadcastPayload, priority: APNsPriority? = nil, expiresIn: Int? = nil, apnsExpiration: Int? = nil,
        sendAt: Date? = nil, audiences: [AudienceSelector]? = nil
    ) {
        self.payload = payload
        self.priority = priority
        self.expiresIn = expiresIn
        self.apnsExpiration = apnsExpiration
        self.sendAt = sendAt
        self.audiences = audiences
    }

    package var content: BroadcastContent { BroadcastContent(payload, byVariant: byVariant) }
}

/// An accepted broadcast with the current state of its deliveries.
package struct Broadcast: Sendable, Hashable {
    package var id: UUID
    package var eventKey: EventKey?
    package var event: BroadcastPayload.Event
    package var acceptedAt: Date
    package var sendAt: Date?
    /// Seconds from the event's start to `sendAt`. While the broadcast is scheduled, `sendAt` moves with the start.
    /// `nil`: the request had `sendAt` itself, or no time at all.
    package var sendAfterStart: Int?
    /// Whether the broadcast still waits for `sendAt`. It has no deliveries until then.
    package var isScheduled: Bool
    /// Whether the broadcast was withdrawn, or its event was over at `sendAt`.
    package var isCancelled: Bool
    package var deliveries: [Delivery]
    package var warnings: [String]
    /// The actor that requested the broadcast, as in the audit log; `nil`: an older version of the server did not
    /// record the actor.
    package var by: String?
    /// The actor that withdrew the broadcast; `nil`: it was not withdrawn, or the actor was not recorded.
    package var withdrawnBy: String?
    /// The outcome of the state that became this broadcast; `nil`: the organiser sent a broadcast, not a state.
    package var outcome: StateOutcome?
    /// The index in the content type's `rings` of the rule that matched; `nil`: none did.
    package var rule: Int?
    /// The request with the event's defaults filled in; `nil`: it was not loaded.
    package var request: BroadcastRequest?

    package init(
        id: UUID, eventKey: EventKey?, event: BroadcastPayload.Event, acceptedAt: Date, sendAt: Date?,
        isScheduled: Bool, isCancelled: Bool = false, deliveries: [Delivery], warnings: [String], by: String? = nil
    ) {
        self.id = id
        self.eventKey = eventKey
        self.event = event
        self.acceptedAt = acceptedAt
        self.sendAt = sendAt
        self.isScheduled = isScheduled
        self.isCancelled = isCancelled
        self.deliveries = deliveries
        self.warnings = warnings
        self.by = by
    }

    package enum State: String, Sendable, Hashable, CaseIterable {
        /// The broadcast waits for `sendAt`.
        case scheduled
        /// At least one delivery has no final state yet.
        case queued
        /// Every delivery has a final state.
        case done
        /// Nothing was sent and nothing will be: the broadcast was withdrawn, its event was cancelled, or it was
        /// refused at its `sendAt`, for example because its event was over.
        case cancelled

        /// Derives the state from the states of the deliveries.
        init(isScheduled: Bool, isCancelled: Bool, deliveries: some Collection<Delivery.State>) {
            if isScheduled {
                self = .scheduled
            } else if isCancelled || !deliveries.isEmpty && deliveries.allSatisfy({ $0 == .cancelled }) {
                self = .cancelled
            } else {
                self = deliveries.allSatisfy(\.isSettled) ? .done : .queued
            }
        }
    }

    /// `sendAt`; `nil` also while the event has no start from which it counts.
    package var goesAt: Date? {
        sendAt == sendAfterStart.map { EventSpecification.undated.addingTimeInterval(Double($0)) } ? nil : sendAt
    }

    package var state: State {
        State(isScheduled: isScheduled, isCancelled: isCancelled, deliveries: deliveries.map(\.state))
    }

    /// Milliseconds until Apple accepted or rejected the delivery; `nil`: Apple has done neither. They count from the
    /// broadcast's acceptance, or from its `sendAt` if that is later.
    package func answerMilliseconds(of delivery: Delivery) -> Int? {
        guard delivery.attempts > 0, delivery.state == .accepted || delivery.state == .rejected,
            let settledAt = delivery.settledAt
        else { return nil }
        return max(0, Int((settledAt.timeIntervalSince(max(acceptedAt, sendAt ?? acceptedAt)) * 1_000).rounded()))
    }

    /// The number of deliveries in each state, without states that have none.
    package var counts: [(state: Delivery.State, count: Int)] {
        Delivery.State.allCases.compactMap { state in
            let count = deliveries.count { $0.state == state }
            return count == 0 ? nil : (state, count)
        }
    }
}
