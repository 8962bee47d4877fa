internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// The first answer of APNs that shows whether the Broadcast capability is on is stored, whatever the call was.
@Suite(.timeLimit(.minutes(1)))
struct CapabilityWatchTests {
    private static let off = Sample.refusal(.broadcastFeatureNotEnabled)

    private static let calls: [@Sendable (CapabilityWatch, APNsAddress) async -> Void] = [
        { _ = await $0.send(message, to: $1) },
        { _ = await $0.createChannel(.noMessageStored, at: $1, requestID: UUID()) },
        { _ = await $0.readChannel("a==", at: $1) },
        { _ = await $0.deleteChannel("a==", at: $1, requestID: UUID()) },
        { _ = await $0.listChannels(at: $1) },
    ]

    private static func watch(_ gateway: FakeGateway, _ quirks: FakeQuirks) -> CapabilityWatch {
        CapabilityWatch(gateway: gateway, quirks: quirks, now: { Sample.now }, logger: Sample.logger)
    }

    private static let message = BroadcastMessage(
        channelID: "a==", body: [], priority: .immediate, expiration: 0, requestID: UUID())

    private static func address(isOff: Bool) -> APNsAddress {
        var address = Sample.address()
        address.isCapabilityOff = isOff
        return address
    }

    @Test func `a refusal of each kind of call raises the alarm, unless it is already on`() async {
        for call in Self.calls {
            let quirks = FakeQuirks()
            let gateway = FakeGateway(
                creations: Array(repeating: .refused(Self.off), count: 2),
                deletions: Array(repeating: .refused(Self.off), count: 2),
                reads: Array(repeating: .refused(Self.off), count: 2),
                lists: Array(repeating: .refused(Self.off), count: 2), send: { _ in .refused(Self.off) })
            let watch = Self.watch(gateway, quirks)
            await call(watch, Self.address(isOff: true))
            #expect(quirks.learned.isEmpty)
            await call(watch, Self.address(isOff: false))
            #expect(quirks.learned.map(\.value) == ["off"])
            #expect(quirks.learned.first?.evidence.contains("BroadcastFeatureNotEnabled") == true)
        }
    }

    @Test func `a success of each kind of call ends the alarm, if it is on`() async {
        let receipt = APNsReceipt(requestID: nil)
        for call in Self.calls {
            let quirks = FakeQuirks()
            let gateway = FakeGateway(
                creations: Array(repeating: .accepted("a==", receipt), count: 2),
                deletions: Array(repeating: .accepted((), receipt), count: 2),
                reads: Array(repeating: .accepted(.noMessageStored, receipt), count: 2),
                lists: Array(repeating: .accepted(ChannelListing(channelIDs: []), receipt), count: 2),
                send: { _ in .accepted((), receipt) })
            let watch = Self.watch(gateway, quirks)
            await call(watch, Self.address(isOff: false))
            #expect(quirks.learned.isEmpty)
            await call(watch, Self.address(isOff: true))
            #expect(quirks.learned.map(\.value) == ["on"])
        }
    }

    @Test(arguments: [APNsAnswer<Void>.refused(Sample.refusal(.badPriority)), .unanswered("lost"), .unsent("no key")])
    func `other answers do not change the alarm`(_ answer: APNsAnswer<Void>) async {
        for isOff in [true, false] {
            let quirks = FakeQuirks()
            let watch = Self.watch(FakeGateway(send: { _ in answer }), quirks)
            _ = await watch.send(Self.message, to: Self.address(isOff: isOff))
            #expect(quirks.learned.isEmpty)
        }
    }

    @Test func `if the alarm cannot be stored the call still succeeds`() async {
        let watch = Self.watch(FakeGateway(send: { _ in .refused(Self.off) }), FakeQuirks(fails: true))
        let answer = await watch.send(Self.message, to: Self.address(isOff: false))
        #expect("\(answer)" == "\(APNsAnswer<Void>.refused(Self.off))")
    }
}
