internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// Single pushes on the dispatcher's way: to the devices' door, judged as what they are.
@Suite(.timeLimit(.minutes(1)))
struct PushDispatchTests {
    private static func delivery(_ id: Int, isStart: Bool = false) throws -> ClaimedDelivery {
        var delivery = Sample.delivery(id)
        delivery.message = .push(
            DevicePush(
                token: try #require(DeviceToken(bytes: [UInt8(id)])), body: [], priority: .immediate, expiration: 0,
                requestID: UUID()), isStart: isStart)
        return delivery
    }

    @Test func `a push goes to its device, whatever the channels' door says`() async throws {
        let devices = FakeDevices { _ in .refused(Sample.refusal(.badExpirationDate)) }
        let gateway = FakeGateway { _ in
            Issue.record("it went to a channel")
            return .unanswered("")
        }
        let sends = Sends(
            gateway: gateway, devices: devices, now: { Sample.now })
        var push = try Self.delivery(1)
        push.storagePolicy = .noMessageStored
        let answer = await sends.send(push)
        #expect("\(answer)".contains("BadExpirationDate"), "\(answer)")
    }

    @Test func `what a stop waits for no longer is handed back, a start is unknown`() async throws {
        let flights = Flights()
        flights.begin([try Self.delivery(1), try Self.delivery(2, isStart: true)])
        flights.abandon(at: Sample.now)
        let batch = await flights.landed()
        #expect(batch?.abandoned.map(\.id) == [1])
        #expect(batch?.settlements.map(\.delivery) == [2])
        #expect(batch?.settlements.map(\.verdict) == [.unknown(reason: Lane.unheard)])
    }

    @Test func `what never began is handed back, a start, too`() async throws {
        let flights = Flights()
        let start = try Self.delivery(1, isStart: true)
        flights.begin([start])
        flights.abandon([start])
        #expect(await flights.landed()?.abandoned.map(\.id) == [1])
    }
}
