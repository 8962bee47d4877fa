package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// An organiser's request for a broadcast. It has more than `Contract.BroadcastDraft`: checked names, the priority of the
/// event, and audiences without variants (`AudienceSelector.only`).
package struct BroadcastRequest: Sendable, Hashable {
    package var payload: BroadcastPayload
    /// Content or alert that replaces the general one for some variants.
    package var byVariant: [String: Contract.VariantContent] = [:]
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

    /// The payload with the parts that a variant gets instead.
    package func payload(for variant: Variant?) -> BroadcastPayload {
        guard let own = variant.flatMap({ byVariant[$0.rawValue] }) else { return payload }
        var payload = payload
        payload.contentState = own.contentState.map { Array($0.bytes) } ?? payload.contentState
        payload.alert = own.alert.map { Array($0.bytes) } ?? payload.alert
        return payload
    }
}

extension Contract.BroadcastState {
    /// Derives the state from the states of the deliveries.
    package init(isScheduled: Bool, isCancelled: Bool, deliveries: some Collection<Contract.DeliveryState>) {
        if isScheduled {
            self = .scheduled
        } else if isCancelled || !deliveries.isEmpty && deliveries.allSatisfy({ $0 == .cancelled }) {
            self = .cancelled
        } else {
            self = deliveries.allSatisfy(\.isSettled) ? .done : .queued
        }
    }
}

extension Contract.DeliveryState {
    /// Whether this state is final.
    package var isSettled: Bool {
        switch self {
        case .waiting, .queued, .sending: false
        case .accepted, .superseded, .expired, .rejected, .cancelled, .unknown: true
        }
    }
}

extension Contract.TokenCounts {
    /// The outcomes of a message to tokens.
    ///
    /// - Parameter state: the state of the message. If it is final, tokens that were not reached do not get the message.
    package init(_ progress: TokenProgress, _ state: Contract.DeliveryState) {
        self.init(
            total: progress.total, accepted: progress.accepted, rejected: progress.rejected, gone: progress.gone,
            expired: progress.expired + (state == .expired ? progress.pending : 0),
            pending: state.isSettled ? 0 : progress.pending)
    }
}
