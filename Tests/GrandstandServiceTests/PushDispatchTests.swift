internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// Single pushes in the dispatcher. They are sent to the APNs host for devices. If a stop interrupts them, starts and
/// updates are treated differently.
@Suite(.timeLimit(.minutes(20)))
struct PushDispatchTests {
    private static func delivery(_ id: Int, isStart: Bool = false) throws -> ClaimedDelivery {
        var delivery = Sample.delivery(id)
        delivery.message = .push(
            DevicePush(
                token: try #require(DeviceToken(bytes: [UInt8(id)])), body: [], priority: .immediate, expiration: 0,
                requestID: UUID()), isStart: isStart)
        return delivery
    }

    @Test func `a push is sent to its device, whatever the state of the channels' host`() async throws {
        let devices = FakeDevices { _ in .refusing(.badExpirationDate) }
        let gateway = FakeGateway { _ in
            Issue.record("it went to a channel")
            return .unanswered("")
        }
        let sends = Sends(gateway: gateway, devices: devices, now: { Sample.now })
        var push = try Self.delivery(1)
        push.storagePolicy = .noMessageStored
        let answer = await sends.send(push)
        #expect("\(answer)".contains("BadExpirationDate"), "\(answer)")
    }

    private static func dispatcher(
        _ outbox: FakeOutbox, _ devices: FakeDevices, _ directSends: LocalDirectSends = LocalDirectSends(),
        drain: Duration
    ) -> Dispatcher {
        Dispatcher(
            environment: .production, outbox: outbox, directSends: directSends,
            sends: Sends(gateway: FakeGateway(), devices: devices, now: { Sample.now }), rates: Sample.rates(),
            signals: HandSignals(),
            settings: .init(concurrency: 20, laneInterval: 1, lease: 3_600, drain: Drain(drain)),
            now: { Sample.now }, logger: Sample.logger)
    }

    @Test func `at the end of a stop's time updates are given back, and starts are unknown`() async throws {
        let outbox = FakeOutbox([try Self.delivery(1), try Self.delivery(2, isStart: true)])
        let valve = Valve()
        let devices = FakeDevices { _ in
            await valve.pass()
            return .unanswered("late")
        }
        let running = Task { await Self.dispatcher(outbox, devices, drain: .milliseconds(20)).run() }
        await valve.hold(2)
        running.cancel()
        await running.value
        valve.open()
        #expect(outbox.record.released.map(\.id) == [1])
        #expect(outbox.record.settled.map(\.delivery) == [2])
        #expect(outbox.record.settled.map(\.verdict) == [.unknown(reason: Lane.unheard)])
    }

    @Test func `pushes that never began are given back, also starts`() async throws {
        let outbox = FakeOutbox([try Self.delivery(1)])
        let (valve, directSends) = (Valve(), LocalDirectSends())
        let devices = FakeDevices.held(by: valve)
        let start = try Self.delivery(2, isStart: true)
        let running = Task { await Self.dispatcher(outbox, devices, directSends, drain: .seconds(3_600)).run() }
        await valve.hold(1)
        running.cancel()
        while directSends.claim(1, in: .production) != nil { await Task.yield() }
        directSends.send([start], in: .production)
        await outbox.wait { !$0.released.isEmpty }
        valve.open()
        await running.value
        #expect(outbox.record.released.map(\.id) == [2])
        #expect(outbox.record.settled.map(\.delivery) == [1])
    }
}

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
