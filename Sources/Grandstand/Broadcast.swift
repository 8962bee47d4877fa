package import APNsWire
package import FoundationEssentials

/// An organiser's request for a broadcast, as it came.
package struct BroadcastRequest: Sendable, Hashable {
    package var payload: BroadcastPayload
    /// The parts that some variants of the event get instead.
    package var byVariant: [Variant: BroadcastContent.Override] = [:]
    /// `nil`: chosen by `DeliveryPlan`.
    package var priority: APNsPriority?
    /// The event's default priority: an audience's own goes before it.
    package var eventPriority: APNsPriority?
    /// Seconds until this content stops being worth sending.
    package var expiresIn: Int?
    /// The `apns-expiration` header itself; not together with `expiresIn`.
    package var apnsExpiration: Int?
    /// Accepted now, sent then.
    package var sendAt: Date?
    /// Seconds from the start of its event to `sendAt`, negative before it; `nil`: `sendAt` was given itself.
    package var sendAfterStart: Int?
    /// Only these audiences; `nil`: all of the event's.
    package var audiences: [AudienceSelector]?
    /// Bytes that APNs takes of its body: fewer for a token than for a channel.
    package var bodyLimit: Int

    package init(
        payload: BroadcastPayload, priority: APNsPriority? = nil, expiresIn: Int? = nil, apnsExpiration: Int? = nil,
        sendAt: Date? = nil, audiences: [AudienceSelector]? = nil, bodyLimit: Int = APNsLimits.broadcastPayload
    ) {
        self.payload = payload
        self.priority = priority
        self.expiresIn = expiresIn
        self.apnsExpiration = apnsExpiration
        self.sendAt = sendAt
        self.audiences = audiences
        self.bodyLimit = bodyLimit
    }

    package var content: BroadcastContent { BroadcastContent(payload, byVariant: byVariant) }
}

/// An accepted broadcast and what has become of its deliveries.
package struct Broadcast: Sendable, Hashable {
    package var id: UUID
    package var eventKey: EventKey?
    /// Of a single push: its recipient.
    package var recipient: TokenAddress?
    package var event: BroadcastPayload.Event
    package var acceptedAt: Date
    package var sendAt: Date?
    /// Seconds from its event's start to `sendAt`, which moves with it while the broadcast is scheduled; `nil`: `sendAt` was
    /// given itself.
    package var sendAfterStart: Int?
    /// Whether it still waits for `sendAt`; it has no deliveries until then.
    package var isScheduled: Bool
    /// Whether it was withdrawn, or found its event over when its time came.
    package var isCancelled: Bool
    package var deliveries: [Delivery]
    package var warnings: [String]
    /// The actor that asked for it, as in the audit log; `nil`: it was accepted before that was kept.
    package var by: String?
    /// The actor that withdrew it; `nil`: it was not withdrawn, or that was not kept.
    package var withdrawnBy: String?
    /// What the state came to of which it was made; `nil`: it was sent as a broadcast.
    package var outcome: StateOutcome?
    /// Which of the rules that ring held then.
    package var rule: Int?
    /// The request, with its event's defaults filled in; `nil`: it was not read.
    package var request: BroadcastRequest?

    package init(
        id: UUID, eventKey: EventKey?, recipient: TokenAddress? = nil, event: BroadcastPayload.Event, acceptedAt: Date,
        sendAt: Date?,
        isScheduled: Bool, isCancelled: Bool = false, deliveries: [Delivery], warnings: [String], by: String? = nil
    ) {
        self.id = id
        self.eventKey = eventKey
        self.recipient = recipient
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
        /// Waits for its `sendAt`.
        case scheduled
        /// Some delivery is not settled yet.
        case queued
        /// Every delivery is settled.
        case done
        /// Nothing of it was sent and nothing will be: it was withdrawn, or its event cancelled.
        case cancelled

        /// Reads the state off the deliveries'.
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

    package var state: State {
        State(isScheduled: isScheduled, isCancelled: isCancelled, deliveries: deliveries.map(\.state))
    }

    /// Milliseconds from its acceptance, or its `sendAt`, to Apple's last answer to one of its deliveries; `nil`: Apple said
    /// nothing that settled it.
    package func answerMilliseconds(of delivery: Delivery) -> Int? {
        guard delivery.attempts > 0, delivery.state == .accepted || delivery.state == .rejected,
            let settledAt = delivery.settledAt
        else { return nil }
        return max(0, Int((settledAt.timeIntervalSince(max(acceptedAt, sendAt ?? acceptedAt)) * 1_000).rounded()))
    }

    /// How many deliveries are in each state; states with none are left out.
    package var counts: [(state: Delivery.State, count: Int)] {
        Delivery.State.allCases.compactMap { state in
            let count = deliveries.count { $0.state == state }
            return count == 0 ? nil : (state, count)
        }
    }
}
