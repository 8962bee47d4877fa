package import FoundationEssentials
package import Grandstand

/// Sends the messages of channels' lanes to Apple.
package struct Sends: Sendable {
    private let gateway: any APNsGateway
    private let now: @Sendable () -> Date

    package init(gateway: any APNsGateway, now: @escaping @Sendable () -> Date) {
        self.gateway = gateway
        self.now = now
    }

    /// Makes the request, unless the delivery has expired while it waited.
    package func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        if delivery.isExpired(at: now()) { return .withheld("it expired before it was sent") }
        return await gateway.send(delivery.message, to: delivery.address)
    }
}
