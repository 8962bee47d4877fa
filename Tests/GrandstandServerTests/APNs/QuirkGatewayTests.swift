internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// Apple accepts only one spelling of a bundle ID with capitals. The server learns it from one mismatch, and stores it.
@Suite(.timeLimit(.minutes(20)))
struct SpellingTests {
    private static let mismatch = APNsAnswer<Void>.refusing(.topicMismatch)
    private static let accepted = APNsAnswer<Void>.ok
    private static let capitals = "com.example.Stadium"
    private static let lowercase = "com.example.stadium"

    private static func refused(_ reason: APNsReason) -> APNsAnswer<Void> { .refused(LoopSample.refusal(reason)) }

    /// The address from the ledger after the spelling was stored.
    private static func lowercased() -> APNsAddress {
        var address = LoopSample.address()
        address.managementPath = .lowercased
        return address
    }

    @Test func `a bundle ID without capitals has only one spelling`() async {
        let stand = Stand(registered: Self.mismatch)
        let answer = await stand.calls.listChannels(at: LoopSample.address(LoopSample.plainID))
        #expect(answer == .refusing(.topicMismatch))
        #expect(stand.gateway.spelled == [Self.lowercase])
        #expect(stand.learned.isEmpty)
    }

    @Test(arguments: [
        accepted, refused(.cannotCreateChannelConfig), refused(.broadcastFeatureNotEnabled), .unanswered("lost"),
        .unsent("no key"),
    ])
    func `the registered spelling is tried first, and another one only after a mismatch`(
        _ answer: APNsAnswer<Void>
    ) async {
        let stand = Stand(registered: answer)
        #expect(await stand.calls.createChannel(.noMessageStored, at: LoopSample.address()).text == answer.text)
        #expect(stand.gateway.spelled == [Self.capitals])
        #expect(stand.learned.isEmpty)
    }

    @Test(arguments: ["create", "read", "delete", "list"])
    func `after a TopicMismatch the lower-case spelling is tried and stored`(_ call: String) async {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.accepted)
        let address = LoopSample.address()
        let isAccepted =
            switch call {
            case "create": await stand.calls.createChannel(.noMessageStored, at: address).isAccepted
            case "read": await stand.calls.readChannel("abc==", at: address).isAccepted
            case "delete": await stand.calls.deleteChannel("abc==", at: address).isAccepted
            default: await stand.calls.listChannels(at: address).isAccepted
            }
        #expect(isAccepted)
        #expect(stand.gateway.spelled == [Self.capitals, Self.lowercase])
        #expect(
            stand.learned == [
                Contract.Quirk(
                    environment: .production, quirk: .managementPath, value: .lowercased, learnedAt: LoopSample.now,
                    evidence: "TopicMismatch as registered, accepted in lowercase")
            ])
        // This address was read before the spelling was stored. Another call with this address causes no second
        // mismatch.
        #expect(await stand.calls.listChannels(at: address).isAccepted)
        #expect(stand.gateway.spelled == [Self.capitals, Self.lowercase, Self.lowercase])
    }

    @Test func `if the stored spelling is a mismatch the other one is tried and stored`() async {
        let stand = Stand(registered: Self.accepted, lowercased: Self.mismatch)
        #expect(await stand.calls.listChannels(at: Self.lowercased()).isAccepted)
        #expect(stand.gateway.spelled == [Self.lowercase, Self.capitals])
        #expect(stand.learned.map(\.value) == [.registered])
        #expect(stand.learned.map(\.evidence) == ["TopicMismatch in lowercase, accepted as registered"])
    }

    @Test func `when an admin later changes the learned spelling, the changed one is used`() async {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.accepted)
        _ = await stand.calls.listChannels(at: LoopSample.address())
        _ = await stand.calls.listChannels(at: Self.lowercased())
        // An admin has set the spelling back to the registered one.
        stand.gateway.set(.registered, Self.accepted)
        stand.gateway.forget()
        #expect(await stand.calls.listChannels(at: LoopSample.address()).isAccepted)
        #expect(stand.gateway.spelled == [Self.capitals])
    }

    @Test func `if both spellings are refused the cause is another one, and nothing is stored`() async {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.mismatch)
        for address in [LoopSample.address(), Self.lowercased()] {
            let answer = await stand.calls.readChannel("abc==", at: address)
            #expect(answer == .refusing(.topicMismatch))
        }
        #expect(stand.gateway.spelled == [Self.capitals, Self.lowercase, Self.lowercase, Self.capitals])
        #expect(stand.learned.isEmpty)
    }

    /// APNs checks the topic first. So ChannelNotRegistered and CannotCreateChannelConfig show that it accepted the
    /// topic.
    @Test(
        arguments: [
            (refused(.channelNotRegistered), true), (refused(.cannotCreateChannelConfig), true),
            (.unanswered("lost"), false), (refused(.serviceUnavailable), false),
            (refused(.invalidProviderToken), false),
            (refused(.broadcastFeatureNotEnabled), false), (refused(.badRequestParams), false),
        ] as [(APNsAnswer<Void>, Bool)])
    func `the second spelling's answer is returned, and the spelling is stored if the topic was accepted`(
        _ answer: APNsAnswer<Void>, _ isRemembered: Bool
    ) async {
        let stand = Stand(registered: Self.mismatch, lowercased: answer)
        #expect(await stand.calls.deleteChannel("abc==", at: LoopSample.address()).text == answer.text)
        #expect(stand.gateway.spelled == [Self.capitals, Self.lowercase])
        #expect(stand.learned.isEmpty != isRemembered)
    }

    @Test func `if the spelling cannot be stored the calls still succeed`() async {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.accepted, quirks: ScriptedQuirks(fails: true))
        for _ in 0..<2 { #expect(await stand.calls.listChannels(at: LoopSample.address()).isAccepted) }
        #expect(stand.gateway.spelled == [Self.capitals, Self.lowercase, Self.lowercase])
    }
}

/// The objects that a test of management calls needs.
private struct Stand {
    let gateway = SpellingGateway()
    let quirks: ScriptedQuirks
    let calls: QuirkGateway

    /// The spellings that were stored.
    var learned: [Contract.Quirk] { quirks.learned.filter { $0.quirk == .managementPath } }

    init(
        registered: APNsAnswer<Void>? = nil, lowercased: APNsAnswer<Void>? = nil,
        quirks: ScriptedQuirks = ScriptedQuirks()
    ) {
        self.quirks = quirks
        calls = LoopSample.quirkGateway(gateway.fake, quirks)
        if let registered { gateway.set(.registered, registered) }
        if let lowercased { gateway.set(.lowercased, lowercased) }
    }
}

/// APNs, whose answers depend on the spelling of the bundle ID. It records the spellings.
private final class SpellingGateway: Sendable {
    private struct State {
        var answers: [Contract.QuirkValue: APNsAnswer<Void>] = [:]
        var spelled: [String] = []
    }

    private let state = Mutex(State())

    var spelled: [String] { state.withLock { $0.spelled } }

    func forget() { state.withLock { $0.spelled = [] } }

    func set(_ path: Contract.QuirkValue, _ answer: APNsAnswer<Void>) {
        state.withLock { $0.answers[path] = answer }
    }

    private func answer<Value: Sendable>(_ value: Value, _ address: APNsAddress) -> APNsAnswer<Value> {
        let answer = state.withLock { state in
            state.spelled.append(address.managementBundleID)
            return state.answers[address.managementPath]
        }
        return (answer ?? .unsent("not scripted")).map { _ in value }
    }

    var fake: FakeGateway {
        FakeGateway(
            state: .ok, create: { self.answer("abc==", $1) }, read: { self.answer(.noMessageStored, $1) },
            delete: { self.answer((), $1) }, list: { self.answer(ChannelListing(channelIDs: []), $0) })
    }
}

extension APNsAnswer {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }

    /// The kind of answer, without its value.
    fileprivate var text: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let refusal): "\(refusal.status) \(refusal.reason)"
        case .unanswered(let reason): "unanswered: \(reason)"
        case .unsent(let reason): "unsent: \(reason)"
        case .withheld(let reason): "withheld: \(reason)"
        }
    }
}

/// The first answer of APNs that shows whether the Broadcast capability is on is stored, whatever the call was.
@Suite(.timeLimit(.minutes(20)))
struct CapabilityTests {
    private static let off = LoopSample.refusal(.broadcastFeatureNotEnabled)

    private static let calls: [@Sendable (QuirkGateway, APNsAddress) async -> Void] = [
        { _ = await $0.send(message(to: $1)) },
        { _ = await $0.createChannel(.noMessageStored, at: $1) },
        { _ = await $0.readChannel("a==", at: $1) },
        { _ = await $0.deleteChannel("a==", at: $1) },
        { _ = await $0.listChannels(at: $1) },
    ]

    private static func message(to address: APNsAddress) -> ClaimedDelivery {
        var delivery = LoopSample.delivery(1)
        delivery.address = address
        return delivery
    }

    private static func address(isOff: Bool) -> APNsAddress {
        var address = LoopSample.address()
        address.isCapabilityOff = isOff
        return address
    }

    /// APNs whose capability is on, or off.
    private static func gateway(isOn: Bool) -> ScriptedGateway {
        func answers<Value: Sendable>(_ value: Value) -> [APNsAnswer<Value>] { [isOn ? .giving(value) : .refused(off)] }
        return ScriptedGateway(
            creations: answers("a=="), deletions: answers(()), reads: answers(.noMessageStored),
            lists: answers(ChannelListing(channelIDs: [])), send: { _ in isOn ? .ok : .refused(off) })
    }

    @Test(arguments: [false, true])
    func `a refusal of each kind of call raises the alarm, and a success ends it, once`(isOn: Bool) async {
        for call in Self.calls {
            let quirks = ScriptedQuirks()
            let watch = LoopSample.quirkGateway(Self.gateway(isOn: isOn), quirks)
            await call(watch, Self.address(isOff: !isOn))
            #expect(quirks.learned.isEmpty)
            await call(watch, Self.address(isOff: isOn))
            #expect(quirks.learned.map(\.value) == [isOn ? .on : .off])
            let evidence = quirks.learned.first?.evidence
            #expect(isOn || evidence?.contains("BroadcastFeatureNotEnabled") == true)
        }
    }

    @Test(arguments: [APNsAnswer<Void>.refusing(.badPriority), .unanswered("lost"), .unsent("no key")])
    func `other answers do not change the alarm`(_ answer: APNsAnswer<Void>) async {
        for isOff in [true, false] {
            let quirks = ScriptedQuirks()
            let watch = LoopSample.quirkGateway(ScriptedGateway(send: { _ in answer }), quirks)
            _ = await watch.send(Self.message(to: Self.address(isOff: isOff)))
            #expect(quirks.learned.isEmpty)
        }
    }

    @Test func `if the alarm cannot be stored the call still succeeds`() async {
        let watch = LoopSample.quirkGateway(
            ScriptedGateway(send: { _ in .refused(Self.off) }), ScriptedQuirks(fails: true))
        let answer = await watch.send(Self.message(to: Self.address(isOff: false)))
        #expect("\(answer)" == "\(APNsAnswer<Void>.refused(Self.off))")
    }
}
