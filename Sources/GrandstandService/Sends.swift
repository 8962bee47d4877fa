internal import APNsWire
package import FoundationEssentials
package import Grandstand

/// Lanes' messages on their way to Apple: broadcasts, and pushes to tokens; with the one quirk of the send path: a
/// `noMessageStored` channel takes expiration 0 only, as Apple says, unless it refuses just that; then the other reading
/// is tried once and remembered (docs/apns.md C4).
package struct Sends: Sendable {
    private let gateway: any APNsGateway
    private let devices: any DeviceGateway
    private let examinations: Examinations
    private let now: @Sendable () -> Date

    package init(
        gateway: any APNsGateway, devices: any DeviceGateway, examinations: Examinations,
        now: @escaping @Sendable () -> Date
    ) {
        self.gateway = gateway
        self.devices = devices
        self.examinations = examinations
        self.now = now
    }

    /// Makes the request, unless the delivery waited for it beyond its time.
    package func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        if delivery.isExpired(at: now()) { return .withheld("its time ran out before it was sent") }
        switch delivery.message {
        case .broadcast(let message): return await send(message, of: delivery)
        case .push(let push, _): return await devices.push(push, to: delivery.address)
        }
    }

    private func send(_ message: BroadcastMessage, of delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        let answer = await gateway.send(message, to: delivery.address)
        guard delivery.storagePolicy == .noMessageStored, answer.saysBadExpiration else { return answer }
        let other = Self.otherReading(of: message, until: delivery.expiresAt)
        let outcome = await examinations.examine(
            .unstoredExpiration, for: delivery.address.app,
            concludedSince: now().addingTimeInterval(-Quirk.belief), waits: false
        ) {
            let second = await gateway.send(other, to: delivery.address)
            let refused = message.expiration
            return switch second {
            case .accepted:
                (
                    second,
                    Self.finding(other.expiration, "BadExpirationDate for \(refused), \(other.expiration) accepted")
                )
            case .refused where second.saysBadExpiration:
                (answer, Self.finding(refused, "BadExpirationDate for \(refused) and for \(other.expiration)"))
            // Another refusal, or none: the verdict is decided by that.
            case .refused, .unanswered, .unsent, .withheld: (second, .nothing)
            }
        }
        switch outcome {
        case .examined(let answer): return answer
        case .known(let value) where value == Self.word(other.expiration).rawValue:
            return await gateway.send(other, to: delivery.address)
        case .inconclusive:
            // Not waited for: the lane's lease is short, and another try costs nothing.
            return .withheld("which expiration APNs takes is just being found out")
        case .known, .unavailable: return answer
        }
    }

    /// The same message with the expiration that the refused one did not have.
    private static func otherReading(of message: BroadcastMessage, until expiresAt: Date) -> BroadcastMessage {
        var other = message
        other.expiration = message.expiration == 0 ? Int(expiresAt.timeIntervalSince1970.rounded(.up)) : 0
        return other
    }

    private static func word(_ expiration: Int) -> Quirk.UnstoredExpiration { expiration == 0 ? .zero : .nonzero }

    private static func finding(_ expiration: Int, _ evidence: String) -> Examinations.Finding {
        .concluded(word(expiration).rawValue, evidence: evidence)
    }
}

extension APNsAnswer {
    fileprivate var saysBadExpiration: Bool {
        if case .refused(let refusal) = self { refusal.reason == .badExpirationDate } else { false }
    }
}
