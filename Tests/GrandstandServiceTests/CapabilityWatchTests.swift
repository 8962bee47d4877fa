internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// The first answer that tells of the Broadcast capability is noted, whatever call it was; thousands make one note.
@Suite(.timeLimit(.minutes(1)))
struct CapabilityWatchTests {
    private static let off = Sample.refusal(.broadcastFeatureNotEnabled)

    private static func watch(_ gateway: FakeGateway, _ quirks: FakeQuirks) -> CapabilityWatch {
        CapabilityWatch(gateway: gateway, quirks: quirks, now: { Sample.now }, logger: Sample.logger)
    }

    private static let message = BroadcastMessage(
        channelID: "a==", body: [], priority: .immediate, expiration: 0, requestID: UUID())

    @Test func `each kind of call tells of a refusal, once`() async {
        let calls: [@Sendable (CapabilityWatch) async -> Void] = [
            { _ = await $0.send(Self.message, to: Sample.address()) },
            { _ = await $0.readChannel("a==", at: Sample.address()) },
            { _ = await $0.deleteChannel("a==", at: Sample.address(), requestID: UUID()) },
            { _ = await $0.listChannels(at: Sample.address()) },
        ]
        for call in calls {
            let quirks = FakeQuirks()
            let gateway = FakeGateway(
                deletions: [.refused(Self.off)], reads: [.refused(Self.off)], lists: [.refused(Self.off)],
                send: { _ in .refused(Self.off) })
            let watch = Self.watch(gateway, quirks)
            for _ in 0..<3 { await call(watch) }
            #expect(quirks.notes.map(\.isOn) == [false])
            #expect(quirks.notes.first?.evidence.contains("BroadcastFeatureNotEnabled") == true)
        }
    }

    @Test func `a success after a refusal is noted at once; other refusals say nothing`() async {
        let quirks = FakeQuirks()
        let answers = Mutex<[APNsAnswer<Void>]>([
            .refused(Sample.refusal(.badPriority)), .refused(Self.off), .accepted((), .init(requestID: nil)),
            .accepted((), .init(requestID: nil)), .refused(Self.off),
        ])
        let watch = Self.watch(FakeGateway(send: { _ in answers.withLock { $0.removeFirst() } }), quirks)
        for _ in 0..<5 { _ = await watch.send(Self.message, to: Sample.address()) }
        #expect(quirks.notes.map(\.isOn) == [false, true, false])
    }

    @Test func `what could not be noted is noted with the next answer`() async {
        let quirks = FakeQuirks(fails: true)
        let watch = Self.watch(FakeGateway(send: { _ in .refused(Self.off) }), quirks)
        for _ in 0..<2 { _ = await watch.send(Self.message, to: Sample.address()) }
        #expect(quirks.attempts == 2)
    }

    @Test func `creations are the ledger's to note`() async {
        let quirks = FakeQuirks()
        let watch = Self.watch(FakeGateway(creations: [.refused(Self.off)]), quirks)
        _ = await watch.createChannel(.noMessageStored, at: Sample.address(), requestID: UUID())
        #expect(quirks.notes.isEmpty)
    }
}
