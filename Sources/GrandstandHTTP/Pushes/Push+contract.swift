internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Contract.Push {
    /// A single push. Only the last digits of its token are shown.
    init(_ push: Broadcast, to recipient: TokenAddress) {
        self.init(
            id: push.id.words, bundleId: recipient.app.bundleID.rawValue, environment: .init(recipient.app.environment),
            token: recipient.token.description, event: .init(push.event), state: .init(push.state),
            acceptedAt: push.acceptedAt, sendAt: push.sendAt, by: push.by, withdrawnBy: push.withdrawnBy,
            delivery: push.deliveries.first.map(Contract.PushDelivery.init), warnings: push.warnings)
    }
}

extension Contract.PushDelivery {
    fileprivate init(_ delivery: Delivery) {
        self.init(
            state: .init(delivery.state), attempts: delivery.attempts, priority: delivery.priority.rawValue,
            apnsExpiration: delivery.apnsExpiration, timestamp: delivery.timestamp,
            apnsRequestId: delivery.apnsRequestID.words, apnsUniqueId: delivery.apnsUniqueID, reason: delivery.reason,
            nextAttemptAt: delivery.nextAttemptAt, settledAt: delivery.settledAt)
    }
}
