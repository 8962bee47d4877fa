internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Contract.Broadcast {
    init(_ broadcast: Broadcast) {
        let isOfEvent = broadcast.eventKey != nil
        self.init(
            id: broadcast.id.words, eventKey: broadcast.eventKey?.rawValue, event: .init(broadcast.event),
            state: .init(broadcast.state), acceptedAt: broadcast.acceptedAt, sendAt: broadcast.goesAt,
            afterStart: broadcast.sendAfterStart, by: broadcast.by, withdrawnBy: broadcast.withdrawnBy,
            counts: Dictionary(uniqueKeysWithValues: broadcast.counts.map { ($0.state.rawValue, $0.count) }),
            deliveries: broadcast.deliveries.map {
                Contract.Delivery($0, answerMilliseconds: broadcast.answerMilliseconds(of: $0))
            }, warnings: broadcast.warnings,
            source: isOfEvent ? broadcast.outcome == nil ? .broadcast : .state : nil,
            outcome: broadcast.outcome.map(Contract.StateOutcome.init), rule: broadcast.rule,
            message: broadcast.request.map(Contract.BroadcastDraft.init))
    }
}

extension Contract.Delivery {
    /// - Parameter answerMilliseconds: milliseconds from the broadcast's acceptance, or from its `sendAt` if that is
    ///   later, until Apple accepted or rejected the delivery; `nil`: neither happened.
    fileprivate init(_ delivery: Delivery, answerMilliseconds: Int?) {
        self.init(
            kind: delivery.counts == nil ? .channel : .tokens, counts: delivery.counts.map(Contract.TokenCounts.init),
            bundleId: delivery.bundleID.rawValue, environment: .init(delivery.environment),
            variant: delivery.variant?.rawValue, channelId: delivery.channelID, state: .init(delivery.state),
            attempts: delivery.attempts, priority: delivery.priority.rawValue, apnsExpiration: delivery.apnsExpiration,
            timestamp: delivery.timestamp, apnsRequestId: delivery.apnsRequestID.words,
            apnsUniqueId: delivery.apnsUniqueID, reason: delivery.reason, nextAttemptAt: delivery.nextAttemptAt,
            settledAt: delivery.settledAt, answerMilliseconds: answerMilliseconds,
            supersededBy: delivery.supersededBy?.words)
    }
}

extension Contract.TokenCounts {
    fileprivate init(_ counts: Delivery.Counts) {
        self.init(
            total: counts.total, accepted: counts.accepted, rejected: counts.rejected, gone: counts.gone,
            expired: counts.expired, pending: counts.pending)
    }
}

extension Contract.BroadcastPreview {
    init(_ preview: RenderedRehearsal) {
        let rehearsal = preview.rehearsal
        self.init(
            event: .init(rehearsal.event), goesAt: rehearsal.goesAt, isScheduled: rehearsal.isScheduled,
            expiresAt: rehearsal.expiresAt,
            audiences: rehearsal.parts.map { Contract.AudiencePreview($0, of: preview) }, warnings: rehearsal.warnings)
    }
}

extension Contract.AudiencePreview {
    init(_ part: BroadcastRehearsal.Part, of preview: RenderedRehearsal) {
        self.init(
            bundleId: part.audience.bundleID.rawValue, environment: .init(part.audience.environment),
            variant: part.audience.variant?.rawValue, kind: part.kind.isCrowd ? .tokens : .channel,
            priority: preview.priority(of: part).rawValue, apnsExpiration: part.apnsExpiration, bytes: part.bytes,
            limit: part.kind.bodyLimit, payload: RawJSON(unchecked: preview.body(of: part)),
            preview: preview.shown(part).map { Contract.RenderedPreview(compact: $0.compact, expanded: $0.expanded) },
            replaces: part.replaces.map(\.words))
    }
}
