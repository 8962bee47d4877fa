internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// How Apple wants a bundle ID with capitals spelled is found out once, with as few wrong calls as can be.
@Suite(.timeLimit(.minutes(1)))
struct ManagementCallsTests {
    private static let mismatch = APNsAnswer<Void>.refused(Sample.refusal(.topicMismatch))
    private static let accepted = APNsAnswer<Void>.accepted((), APNsReceipt(requestID: nil))
    private static let capitals = "com.example.Stadium"
    private static let lowercase = "com.example.stadium"
    private static let week: TimeInterval = 7 * 86_400

    private static func refused(_ reason: APNsReason) -> APNsAnswer<Void> { .refused(Sample.refusal(reason)) }

    /// As the ledger gives it after a conclusion.
    private static func believed(_ path: APNsAddress.ManagementPath, until: Date) -> APNsAddress {
        var address = Sample.address()
        address.managementPath = path
        address.managementPathBelievedUntil = until
        return address
    }

    private static func quirk(_ path: APNsAddress.ManagementPath, learned seconds: TimeInterval) -> Quirk {
        let learnedAt = Sample.now.addingTimeInterval(-seconds)
        return Quirk(
            environment: .production, name: .managementPath, value: path.rawValue, learnedAt: learnedAt,
            evidence: "seen before", believedUntil: learnedAt.addingTimeInterval(week))
    }

    // MARK: Learning

    @Test func `without capitals nothing is examined, whatever Apple says`() async {
        let stand = Stand(registered: Self.mismatch)
        let answer = await stand.calls.list(at: Sample.address(Sample.plainID))
        #expect(answer == .refused(Sample.refusal(.topicMismatch)))
        #expect(stand.gateway.spelled == [Self.lowercase])
        #expect(stand.quirks.learned.isEmpty && stand.quirks.abandoned == 0)
    }

    @Test(arguments: [
        accepted,
        // These are looked at after the topic.
        refused(.cannotCreateChannelConfig), refused(.channelNotRegistered), refused(.badChannelId),
    ])
    func `the registered spelling is tried first, and kept when it is taken`(_ answer: APNsAnswer<Void>) async {
        let stand = Stand(registered: answer)
        _ = await stand.calls.create(.noMessageStored, at: Sample.address())
        #expect(stand.gateway.spelled == [Self.capitals])
        #expect(
            stand.quirks.learned == [
                Quirk(
                    environment: .production, name: .managementPath, value: "registered", learnedAt: Sample.now,
                    evidence: "accepted as registered", believedUntil: Sample.now.addingTimeInterval(Self.week))
            ])
    }

    @Test(arguments: ["create", "read", "delete", "list"])
    func `after a TopicMismatch the lowercased spelling is tried, and learned`(_ call: String) async {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.accepted)
        let address = Sample.address()
        let isAccepted =
            switch call {
            case "create": await stand.calls.create(.noMessageStored, at: address).isAccepted
            case "read": await stand.calls.read("abc==", at: address).isAccepted
            case "delete": await stand.calls.delete("abc==", at: address).isAccepted
            default: await stand.calls.list(at: address).isAccepted
            }
        #expect(isAccepted)
        #expect(stand.gateway.spelled == [Self.capitals, Self.lowercase])
        #expect(
            stand.quirks.learned == [
                Quirk(
                    environment: .production, name: .managementPath, value: "lowercased", learnedAt: Sample.now,
                    evidence: "TopicMismatch as registered, accepted in lowercase",
                    believedUntil: Sample.now.addingTimeInterval(Self.week))
            ])
    }

    @Test func `forty callers at once make one wrong call`() async {
        let valve = Valve()
        let stand = Stand(registered: Self.mismatch, lowercased: Self.accepted, valve: valve)
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 {
                group.addTask { await stand.calls.create(.noMessageStored, at: Sample.address()).isAccepted }
            }
            await valve.hold(1)
            valve.open()
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 40)
        #expect(stand.gateway.spelled.count { $0 == Self.capitals } == 1)
        #expect(stand.gateway.spelled.count { $0 == Self.lowercase } == 40)
    }

    @Test func `refused in both spellings, the cause is another: it is tried again after an hour`() async {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.mismatch)
        #expect(
            await stand.calls.read("abc==", at: Sample.address()) == .refused(Sample.refusal(.topicMismatch)))
        #expect(stand.gateway.spelled == [Self.capitals, Self.lowercase])
        #expect(stand.quirks.learned.map(\.value) == ["registered"])
        #expect(
            stand.quirks.learned.map(\.evidence) == ["TopicMismatch as registered and in lowercase"])

        // The ledger has the conclusion, or an address from before is still about.
        let address = Self.believed(.registered, until: Sample.now.addingTimeInterval(Self.week))
        for stale in [address, Sample.address()] {
            stand.gateway.forget()
            stand.clock.set(3_599)
            #expect(await stand.calls.read("abc==", at: stale) == .refused(Sample.refusal(.topicMismatch)))
            #expect(stand.gateway.spelled == [Self.capitals])
        }

        stand.gateway.forget()
        stand.clock.set(3_601)
        stand.gateway.set(.lowercased, Self.accepted)
        #expect(await stand.calls.read("abc==", at: address).isAccepted)
        #expect(stand.gateway.spelled == [Self.capitals, Self.capitals, Self.lowercase])
        #expect(stand.quirks.learned.map(\.value) == ["lowercased"])
    }

    // MARK: Believing

    @Test(arguments: [accepted, refused(.serviceUnavailable), refused(.cannotCreateChannelConfig), .unanswered("lost")])
    func `a believed spelling is used at once`(_ answer: APNsAnswer<Void>) async {
        let stand = Stand(lowercased: answer)
        let address = Self.believed(.lowercased, until: Sample.now.addingTimeInterval(1))
        #expect(await stand.calls.create(.noMessageStored, at: address).isAccepted == answer.isAccepted)
        #expect(stand.gateway.spelled == [Self.lowercase])
        #expect(stand.quirks.learned.isEmpty && stand.quirks.abandoned == 0)
    }

    @Test func `a believed spelling that fails is examined again, but not within the hour`() async {
        let stand = Stand(
            registered: Self.accepted, lowercased: Self.mismatch,
            quirks: FakeQuirks(Self.quirk(.lowercased, learned: 1_800)))
        let address = Self.believed(.lowercased, until: Sample.now.addingTimeInterval(Self.week))
        #expect(await stand.calls.list(at: address) == .refused(Sample.refusal(.topicMismatch)))
        #expect(stand.gateway.spelled == [Self.lowercase])

        stand.gateway.forget()
        stand.clock.set(1_801)
        #expect(await stand.calls.list(at: address).isAccepted)
        #expect(stand.gateway.spelled == [Self.lowercase, Self.capitals])
        #expect(stand.quirks.learned.map(\.value) == ["registered"])
    }

    @Test func `what another replica found meanwhile is taken over`() async {
        let stand = Stand(
            registered: Self.accepted, lowercased: Self.mismatch,
            quirks: FakeQuirks(Self.quirk(.registered, learned: 60)))
        let address = Self.believed(.lowercased, until: Sample.now.addingTimeInterval(Self.week))
        #expect(await stand.calls.list(at: address).isAccepted)
        #expect(stand.gateway.spelled == [Self.lowercase, Self.capitals])
    }

    @Test func `after a week the spelling is examined again`() async {
        let stand = Stand(
            registered: Self.accepted, lowercased: Self.accepted,
            quirks: FakeQuirks(Self.quirk(.lowercased, learned: Self.week + 1)))
        let address = Self.believed(.lowercased, until: Sample.now.addingTimeInterval(-1))
        #expect(await stand.calls.list(at: address).isAccepted)
        #expect(stand.gateway.spelled == [Self.capitals])
        #expect(stand.quirks.learned.map(\.value) == ["registered"])
        // This address is old by now; what was learned counts.
        #expect(await stand.calls.list(at: address).isAccepted)
        #expect(stand.gateway.spelled == [Self.capitals, Self.capitals])
        #expect(stand.quirks.learned.map(\.learnedAt) == [Sample.now])
    }

    // MARK: Waiting, and nothing learned

    @Test func `another replica's examination is waited for`() async throws {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.accepted)
        let start = try await stand.quirks.beginExamination(
            of: .managementPath, for: Sample.address().app, concludedSince: Sample.now, now: Sample.now,
            leasedUntil: Sample.now)
        #expect(start == .begun)
        let call = Task { await stand.calls.list(at: Sample.address()).isAccepted }
        await stand.store.waits(1)
        #expect(stand.gateway.spelled.isEmpty)
        try await stand.quirks.conclude(
            Self.quirk(.lowercased, learned: 0), for: Sample.address().app, by: .server)
        #expect(await call.value)
        #expect(stand.gateway.spelled == [Self.lowercase])
    }

    @Test(arguments: [
        .unanswered("lost"), .unsent("no key"), refused(.serviceUnavailable), refused(.tooManyRequests),
        refused(.invalidProviderToken), refused(.broadcastFeatureNotEnabled), refused(.badRequestParams),
    ])
    func `an answer that tells nothing ends the examination, and the next call examines again`(
        _ answer: APNsAnswer<Void>
    ) async {
        let stand = Stand(registered: answer)
        #expect(await stand.calls.delete("abc==", at: Sample.address()).text == answer.text)
        #expect(stand.gateway.spelled == [Self.capitals])
        #expect(stand.quirks.learned.isEmpty && stand.quirks.abandoned == 1)

        stand.gateway.set(.registered, Self.mismatch)
        stand.gateway.set(.lowercased, answer)
        #expect(await stand.calls.delete("abc==", at: Sample.address()).text == answer.text)
        #expect(stand.gateway.spelled == [Self.capitals, Self.capitals, Self.lowercase])
        #expect(stand.quirks.learned.isEmpty && stand.quirks.abandoned == 2)
    }

    @Test func `while Apple is silent one caller asks, and the others do not queue up behind it`() async {
        let valve = Valve()
        let stand = Stand(registered: .unanswered("lost"), valve: valve)
        let texts = await withTaskGroup(of: String.self) { group in
            group.addTask { await stand.calls.create(.noMessageStored, at: Sample.address()).text }
            await valve.hold(1)
            for _ in 0..<20 {
                group.addTask { await stand.calls.create(.noMessageStored, at: Sample.address()).text }
            }
            while await stand.examinations.waiting != 20 { await Task.yield() }
            valve.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts.count { $0 == "unanswered: lost" } == 1)
        // Nothing was asked of Apple, so they may simply try again.
        #expect(texts.count { $0.hasPrefix("withheld: ") } == 20)
        #expect(stand.gateway.spelled == [Self.capitals])
    }

    // MARK: A store that fails

    @Test func `when quirks cannot be examined, the call is made as the address says, once`() async {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.accepted, isDown: true)
        #expect(await stand.calls.list(at: Sample.address()) == .refused(Sample.refusal(.topicMismatch)))
        #expect(stand.gateway.spelled == [Self.capitals])

        stand.gateway.forget()
        let failing = Self.believed(.registered, until: Sample.now.addingTimeInterval(1))
        #expect(await stand.calls.list(at: failing) == .refused(Sample.refusal(.topicMismatch)))
        #expect(stand.gateway.spelled == [Self.capitals])

        stand.gateway.forget()
        let expired = Self.believed(.lowercased, until: Sample.now.addingTimeInterval(-1))
        #expect(await stand.calls.list(at: expired).isAccepted)
        #expect(stand.gateway.spelled == [Self.lowercase])
    }

    @Test func `a conclusion that cannot be kept does not harm the call`() async {
        let stand = Stand(registered: Self.mismatch, lowercased: Self.accepted, quirks: FakeQuirks(fails: true))
        #expect(await stand.calls.list(at: Sample.address()).isAccepted)
        #expect(stand.gateway.spelled == [Self.capitals, Self.lowercase])
        #expect(stand.quirks.learned.isEmpty)
    }
}

/// What a test of management calls stands on.
private struct Stand {
    let gateway: SpellingGateway
    let quirks: FakeQuirks
    let store: WatchedQuirks
    let clock: HandClock
    let examinations: Examinations
    let calls: ManagementCalls

    init(
        registered: APNsAnswer<Void>? = nil, lowercased: APNsAnswer<Void>? = nil, quirks: FakeQuirks = FakeQuirks(),
        isDown: Bool = false, valve: Valve? = nil
    ) {
        let clock = HandClock()
        self.clock = clock
        self.quirks = quirks
        gateway = SpellingGateway(valve)
        store = WatchedQuirks(quirks, isDown: isDown)
        examinations = Examinations(
            quirks: store, lease: 10, timeout: 10, now: { clock.now }, logger: Sample.logger)
        calls = ManagementCalls(gateway: gateway, examinations: examinations, now: { clock.now })
        if let registered { gateway.set(.registered, registered) }
        if let lowercased { gateway.set(.lowercased, lowercased) }
    }
}

/// APNs, which answers by how a management call spells the bundle ID, and takes that down.
private final class SpellingGateway: APNsGateway {
    private struct State {
        var answers: [APNsAddress.ManagementPath: APNsAnswer<Void>] = [:]
        var spelled: [String] = []
    }

    private let state = Mutex(State())
    private let valve: Valve?

    init(_ valve: Valve?) { self.valve = valve }

    var spelled: [String] { state.withLock { $0.spelled } }

    func forget() { state.withLock { $0.spelled = [] } }

    func set(_ path: APNsAddress.ManagementPath, _ answer: APNsAnswer<Void>) {
        state.withLock { $0.answers[path] = answer }
    }

    private func answer<Value: Sendable>(_ value: Value, _ address: APNsAddress) async -> APNsAnswer<Value> {
        let answer = state.withLock { state in
            state.spelled.append(address.managementBundleID)
            return state.answers[address.managementPath]
        }
        await valve?.pass()
        return switch answer {
        case .accepted(_, let receipt): .accepted(value, receipt)
        case .refused(let refusal): .refused(refusal)
        case .unanswered(let reason): .unanswered(reason)
        case .unsent(let reason): .unsent(reason)
        case .withheld(let reason): .withheld(reason)
        case nil: .unsent("not scripted")
        }
    }

    func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> { await answer("abc==", address) }

    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await answer(.noMessageStored, address)
    }

    func deleteChannel(
        _ channelID: String, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<Void> { await answer((), address) }

    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await answer(ChannelListing(channelIDs: []), address)
    }

    func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void> {
        .unsent("not scripted")
    }

    func keyFile(of credentials: Credentials) async -> KeyFileState { .ok }
}

/// Quirks that may be out of reach, and that tell when somebody has to wait.
private final class WatchedQuirks: QuirkStore {
    private let quirks: FakeQuirks
    private let isDown: Bool
    private let waiting: AsyncStream<Void>
    private let events: AsyncStream<Void>.Continuation

    init(_ quirks: FakeQuirks, isDown: Bool) {
        self.quirks = quirks
        self.isDown = isDown
        (waiting, events) = AsyncStream.makeStream()
    }

    /// Returns when somebody was told so many times that an examination is under way.
    func waits(_ count: Int) async {
        var seen = 0
        for await _ in waiting {
            seen += 1
            if seen >= count { return }
        }
    }

    func quirks(of bundleID: BundleID) async throws -> [Quirk] { try await quirks.quirks(of: bundleID) }

    func beginExamination(
        of name: Quirk.Name, for app: AppEnvironment, concludedSince since: Date, now: Date, leasedUntil: Date
    ) async throws -> ExaminationStart {
        if isDown { throw NotScripted() }
        let start = try await quirks.beginExamination(
            of: name, for: app, concludedSince: since, now: now, leasedUntil: leasedUntil)
        if start == .underWay { events.yield() }
        return start
    }

    func conclude(_ quirk: Quirk, for app: AppEnvironment, by actor: AuditActor) async throws {
        try await quirks.conclude(quirk, for: app, by: actor)
    }

    func noteCapability(
        isOn: Bool, for app: AppEnvironment, evidence: String, isBroadcast: Bool, calledAt: Date, now: Date
    ) async throws { throw NotScripted() }

    func abandonExamination(of name: Quirk.Name, for app: AppEnvironment) async throws {
        try await quirks.abandonExamination(of: name, for: app)
    }
}

/// A clock that stands still until it is set.
private final class HandClock: Sendable {
    private let time = Mutex(Sample.now)

    var now: Date { time.withLock { $0 } }

    /// To so many seconds after the start.
    func set(_ seconds: TimeInterval) { time.withLock { $0 = Sample.now.addingTimeInterval(seconds) } }
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
