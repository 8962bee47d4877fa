internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

struct SendsTests {
    @Test(arguments: [(1_700_000_000, 60), (0, 0), (1_699_999_999, -1)])
    func `a message that waited beyond its time, or beyond its expiration, is not sent`(
        _ expiration: Int, _ seconds: TimeInterval
    ) async {
        var delivery = Sample.delivery(1)
        if case .broadcast(var message) = delivery.message {
            message.expiration = expiration
            delivery.message = .broadcast(message)
        }
        delivery.expiresAt = Sample.now.addingTimeInterval(seconds)
        let sent = Mutex(0)
        let gateway = FakeGateway { _ in
            sent.withLock { $0 += 1 }
            return .accepted((), APNsReceipt(requestID: "r"))
        }
        let answer = await Sends(gateway: gateway, devices: FakeDevices(), now: { Sample.now }).send(delivery)
        #expect(sent.withLock { $0 } == 0)
        #expect("\(answer)".contains("it expired"))
    }
}
