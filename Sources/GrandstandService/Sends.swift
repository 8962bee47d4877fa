package import FoundationEssentials
package import Grandstand

/// Sends the messages of lanes to Apple: broadcasts, and pushes to tokens.
package struct Sends: Sendable {
    private let gateway: any APNsGateway
    private let devices: any DeviceGateway
    private let now: @Sendable () -> Date

    package init(gateway: any APNsGateway, devices: any DeviceGateway, now: @escaping @Sendable () -> Date) {
        self.gateway = gateway
        self.devices = devices
        self.now = now
    }

    /// Makes the request, unless the delivery has expired while it waited.
    package func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        if delivery.isExpired(at: now()) { return .withheld("it expired before it was sent") }
        return switch delivery.message {
        case .broadcast(let message): await gateway.send(message, to: delivery.address)
        case .push(let push, _): await devices.push(push, to: delivery.address)
        }
    }
}
