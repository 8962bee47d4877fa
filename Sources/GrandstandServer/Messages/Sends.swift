internal import FoundationEssentials
internal import Grandstand

/// Sends the messages of channels' lanes to Apple.
struct Sends: Sendable {
    private let gateway: any APNsGateway
    private let now: @Sendable () -> Date

    init(gateway: any APNsGateway, now: @escaping @Sendable () -> Date) {
        self.gateway = gateway
        self.now = now
    }

    /// Makes the request, unless the delivery has expired while it waited.
    func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        if delivery.isExpired(at: now()) { return .withheld("it expired before it was sent") }
        return await gateway.send(delivery.message, to: delivery.address)
    }
}
