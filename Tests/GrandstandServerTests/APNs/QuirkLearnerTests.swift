internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// What the client learns of an app from APNs' answers.
@Suite(.timeLimit(.minutes(20)))
struct QuirkLearnerTests {
    /// Collects what was learned.
    private final class Learned: Sendable {
        private let quirks = Mutex<[Contract.Quirk]>([])

        func take() -> [Contract.Quirk] {
            quirks.withLock { quirks in
                defer { quirks = [] }
                return quirks
            }
        }

        func note(_ quirk: Contract.Quirk) { quirks.withLock { $0.append(quirk) } }
    }

    private static func address(_ bundleID: BundleID = LoopSample.bundleID, isOff: Bool = false) -> APNsAddress {
        var address = LoopSample.address(bundleID)
        address.isCapabilityOff = isOff
        return address
    }

    private static func learner(_ learned: Learned, fails: Bool = false) -> QuirkLearner {
        QuirkLearner(
            remember: { quirk, _ in
                if fails { throw CancellationError() }
                learned.note(quirk)
            }, now: { LoopSample.now }, logger: LoopSample.logger)
    }

    typealias Case = (
        stored: Contract.QuirkValue, registered: APNsAnswer<Void>?, lowercased: APNsAnswer<Void>?,
        learns: Contract.QuirkValue?
    )

    /// The stored spelling, and APNs' answer to each spelling; `nil`: the spelling is not tried.
    private static let cases: [Case] = [
        // Another answer than a mismatch is final.
        (.registered, .ok, nil, nil), (.registered, .refusing(.cannotCreateChannelConfig), nil, nil),
        (.registered, .unanswered("lost"), nil, nil), (.registered, .unsent("no key"), nil, nil),
        (.registered, .refusing(.topicMismatch), .ok, .lowercased),
        (.lowercased, .ok, .refusing(.topicMismatch), .registered),
        // Both spellings are refused, so the cause is another one.
        (.registered, .refusing(.topicMismatch), .refusing(.topicMismatch), nil),
        (.lowercased, .refusing(.topicMismatch), .refusing(.topicMismatch), nil),
        // APNs checks the topic first. So these two refusals show that it accepted the topic.
        (.registered, .refusing(.topicMismatch), .refusing(.channelNotRegistered), .lowercased),
        (.registered, .refusing(.topicMismatch), .refusing(.cannotCreateChannelConfig), .lowercased),
        (.registered, .refusing(.topicMismatch), .unanswered("lost"), nil),
        (.registered, .refusing(.topicMismatch), .refusing(.serviceUnavailable), nil),
        (.registered, .refusing(.topicMismatch), .refusing(.invalidProviderToken), nil),
        (.registered, .refusing(.topicMismatch), .refusing(.badRequestParams), nil),
    ]

    @Test func `after a TopicMismatch the other spelling is tried, and stored if APNs accepts it`() async {
        for test in Self.cases {
            for fails in [false, true] {
                let learned = Learned()
                var address = Self.address()
                address.managementPath = test.stored
                var tried: [Contract.QuirkValue] = []
                let answer = await Self.learner(learned, fails: fails).spelling("a call", address) { address in
                    tried.append(address.managementPath)
                    return (address.managementPath == .registered ? test.registered : test.lowercased)
                        ?? .unsent("not expected")
                }
                var answers = [(Contract.QuirkValue.registered, test.registered), (.lowercased, test.lowercased)]
                if test.stored == .lowercased { answers.reverse() }
                answers.removeAll { $0.1 == nil }
                #expect(tried == answers.map(\.0), "\(test)")
                #expect("\(answer)" == answers.last?.1.map { "\($0)" }, "\(test)")
                #expect(learned.take().map(\.value) == (fails ? [] : [test.learns].compactMap(\.self)), "\(test)")
            }
        }
        // A bundle ID without capitals has only one spelling.
        let learned = Learned()
        var calls = 0
        _ = await Self.learner(learned).spelling("a call", Self.address(LoopSample.plainID)) { _ -> APNsAnswer<Void> in
            calls += 1
            return .refusing(.topicMismatch)
        }
        #expect(calls == 1 && learned.take().isEmpty)
    }

    @Test func `a refusal because the capability is off raises the alarm, and a success ends it, once`() async {
        for (answer, isOff, learns) in [
            (APNsAnswer<Void>.refusing(.broadcastFeatureNotEnabled), false, Contract.QuirkValue.off),
            (.refusing(.broadcastFeatureNotEnabled), true, nil), (.ok, true, .on), (.ok, false, nil),
            (.refusing(.badPriority), true, nil), (.unanswered("lost"), true, nil), (.unsent("no key"), false, nil),
        ] {
            for fails in [false, true] {
                let learned = Learned()
                let given = await Self.learner(learned, fails: fails).watching("a call", Self.address(isOff: isOff)) {
                    _ in answer
                }
                #expect("\(given)" == "\(answer)")
                #expect(learned.take().map(\.value) == (fails ? [] : [learns].compactMap(\.self)), "\(answer)")
            }
        }
    }

    @Test func `each call of the client learns the capability, and each management call the spelling`() async throws {
        let learned = Learned()
        try await ClientAndSimulator.with(
            settings: { $0.remember = { quirk, _ in learned.note(quirk) } },
            options: { $0.quirks.capitals = .refused }
        ) { pair in
            let address = ClientAndSimulator.address
            let channelID = try await pair.makeChannel()
            let calls: [(String, @Sendable () async -> Void)] = [
                ("a broadcast", { _ = await pair.send(to: channelID) }),
                ("a creation", { _ = await pair.client.createChannel(.noMessageStored, at: address) }),
                ("the reading of a channel", { _ = await pair.client.readChannel(channelID, at: address) }),
                ("the list of channels", { _ = await pair.client.listChannels(at: address) }),
                ("a deletion", { _ = await pair.client.deleteChannel(channelID, at: address) }),
            ]
            #expect(
                learned.take().map(\.evidence) == ["TopicMismatch as registered, accepted in lowercase"])
            for (name, call) in calls {
                try pair.refuse(.broadcastFeatureNotEnabled)
                await call()
                let off = try #require(learned.take().first)
                #expect(off.quirk == .broadcastFeature && off.value == .off)
                #expect(off.evidence.hasPrefix("APNs refused \(name) with BroadcastFeatureNotEnabled (request "))
                await call()
                #expect(learned.take().map(\.value) == (name == "a broadcast" ? [] : [.lowercased]), "\(name)")
            }
            let accepted = pair.simulator.journal().filter { $0.status == 200 }.map(\.request.path)
            #expect(accepted.first == "/4/broadcasts/apps/com.example.Stadium")
        }
    }
}
