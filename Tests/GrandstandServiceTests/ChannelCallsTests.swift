internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandService

/// What the ledger learns of each answer of Apple's.
struct ChannelCallsTests {
    private static func calls(_ gateway: FakeGateway, _ ledger: FakeLedger, _ apps: FakeApps = FakeApps())
        -> ChannelCalls
    {
        ChannelCalls(gateway: gateway, channels: ledger, apps: apps, now: { Sample.now }, logger: Sample.logger)
    }

    /// Records what a creation with these answers comes to.
    private static func creation(
        _ answers: [APNsAnswer<String>], retries: Bool, task: ChannelTask = Sample.task(), apps: FakeApps = FakeApps()
    ) async throws -> (outcome: ChannelOutcome, calls: FakeGateway.Calls) {
        let gateway = FakeGateway(creations: answers)
        let ledger = FakeLedger(task.channel)
        _ = try await calls(gateway, ledger, apps).create(task, retries: retries)
        try #require(ledger.recorded.count == 1)
        return (ledger.recorded[0], gateway.calls)
    }

    @Test(arguments: [true, false])
    func `an accepted creation is recorded with Apple's ID`(_ retries: Bool) async throws {
        let (outcome, calls) = try await Self.creation([.accepted("abc==", .init(requestID: nil))], retries: retries)
        #expect(outcome == .created(channelID: "abc=="))
        #expect(calls.created.count == 1)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let answer: APNsAnswer<String>
        let reason: String
        /// The state by the server's own loop, which goes on, and for a caller who waits, who does not.
        let looped: Channel.State
        let asked: Channel.State
        /// Seconds until the loop tries again.
        let pause: ClosedRange<Double>

        var testDescription: String { reason }
    }

    static let cases: [Case] = [
        .init(
            answer: .refused(Sample.refusal(.serviceUnavailable)), reason: "ServiceUnavailable", looped: .failed,
            asked: .deleted, pause: 0.25...0.5),
        .init(
            answer: .refused(Sample.refusal(.tooManyRequests, retryAfter: 60)), reason: "TooManyRequests",
            looped: .failed, asked: .deleted, pause: 60...60),
        // Only people can mend these: asked again slowly.
        .init(
            answer: .refused(Sample.refusal(.broadcastFeatureNotEnabled)), reason: "BroadcastFeatureNotEnabled",
            looped: .failed, asked: .deleted, pause: 128...256),
        .init(
            answer: .refused(Sample.refusal(.badRequestParams)), reason: "BadRequestParams", looped: .failed,
            asked: .deleted, pause: 128...256),
        .init(
            answer: .refused(Sample.refusal(.cannotCreateChannelConfig)), reason: "CannotCreateChannelConfig",
            looped: .failed, asked: .deleted, pause: 0.25...0.5),
        // Apple may have made it: the intent is kept.
        .init(answer: .unanswered("lost"), reason: "lost", looped: .creating, asked: .failed, pause: 0.25...0.5),
        // Apple never saw it: there is nothing to keep.
        .init(answer: .unsent("no key"), reason: "no key", looped: .creating, asked: .deleted, pause: 0.25...0.5),
    ]

    @Test(arguments: cases)
    func `a creation that failed is tried again by the loop, and not for a caller`(_ test: Case) async throws {
        let (looped, _) = try await Self.creation([test.answer], retries: true)
        guard case .notCreated(let reason, let state, let next) = looped else {
            Issue.record("\(looped)")
            return
        }
        #expect(reason == test.reason)
        #expect(state == test.looped)
        #expect(test.pause.contains(try #require(next).timeIntervalSince(Sample.now)))

        let (asked, _) = try await Self.creation([test.answer], retries: false)
        #expect(asked == .notCreated(reason: test.reason, state: test.asked, nextAttemptAt: nil))
    }

    @Test func `capitals that Apple refuses are tried in lowercase once, and that is learned`() async throws {
        let apps = FakeApps()
        let (outcome, calls) = try await Self.creation(
            [.refused(Sample.refusal(.topicMismatch)), .accepted("abc==", .init(requestID: nil))], retries: true,
            apps: apps)
        #expect(outcome == .created(channelID: "abc=="))
        #expect(calls.created.map(\.managementPath) == [.registered, .lowercased])
        #expect(Set(calls.requestIDs).count == 2)
        #expect(apps.learned.map(\.value) == ["lowercased"])
        #expect(apps.learned.map(\.environment) == [.production])
        #expect(apps.learned.map(\.learnedAt) == [Sample.now])
    }

    @Test func `a quirk that cannot be kept does not lose the channel`() async throws {
        let (outcome, _) = try await Self.creation(
            [.refused(Sample.refusal(.topicMismatch)), .accepted("abc==", .init(requestID: nil))], retries: true,
            apps: FakeApps(fails: true))
        #expect(outcome == .created(channelID: "abc=="))
    }

    @Test func `a mismatch in both spellings is no quirk`() async throws {
        let apps = FakeApps()
        let (outcome, calls) = try await Self.creation(
            [.refused(Sample.refusal(.topicMismatch))], retries: false, apps: apps)
        #expect(outcome == .notCreated(reason: "TopicMismatch", state: .deleted, nextAttemptAt: nil))
        #expect(calls.created.count == 2)
        #expect(apps.learned.isEmpty)
    }

    @Test func `silence after the lowercase try keeps the intent, for that one may have made a channel`() async throws {
        let (outcome, _) = try await Self.creation(
            [.refused(Sample.refusal(.topicMismatch)), .unanswered("lost")], retries: false)
        #expect(outcome == .notCreated(reason: "lost", state: .failed, nextAttemptAt: nil))
    }

    @Test func `without capitals, or once it is learned, there is no second try`() async throws {
        let plain = Sample.task(bundleID: Sample.name("com.example.stadium"))
        var learned = Sample.task()
        learned.address.managementPath = .lowercased
        for task in [plain, learned] {
            let (_, calls) = try await Self.creation(
                [.refused(Sample.refusal(.topicMismatch))], retries: true, task: task)
            #expect(calls.created.count == 1)
        }
    }

    @Test func `later tries come later`() async throws {
        let (outcome, _) = try await Self.creation([.unanswered("lost")], retries: true, task: Sample.task(attempts: 5))
        guard case .notCreated(_, _, let next?) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect((4.0...8.0).contains(next.timeIntervalSince(Sample.now)))
    }

    @Test(arguments: [
        APNsAnswer<Void>.accepted((), APNsReceipt(requestID: nil)),
        .refused(APNsRefusal(status: 404, reason: .badPath)),
        .refused(Sample.refusal(.channelNotRegistered)),
        .refused(Sample.refusal(.badChannelId)),
    ])
    func `what Apple deleted or does not know is deleted`(_ answer: APNsAnswer<Void>) async throws {
        let task = Sample.task(.deleting, channelID: "abc==")
        let gateway = FakeGateway(deletions: [answer])
        let ledger = FakeLedger(task.channel)
        _ = try await Self.calls(gateway, ledger).delete(task)
        #expect(ledger.recorded == [.deleted])
        #expect(gateway.calls.deleted == ["abc=="])
    }

    @Test(arguments: [
        (APNsAnswer<Void>.refused(Sample.refusal(.serviceUnavailable)), "ServiceUnavailable", 0.25...0.5),
        (.refused(Sample.refusal(.topicMismatch)), "TopicMismatch", 128.0...256.0),
        // Only a 404 means that the channel is not there.
        (.refused(APNsRefusal(status: 400, reason: .badPath)), "BadPath", 128.0...256.0),
        (.unanswered("lost"), "lost", 0.25...0.5),
        (.unsent("no key"), "no key", 0.25...0.5),
    ])
    func `a deletion that failed is tried again`(
        _ answer: APNsAnswer<Void>, _ reason: String, _ pause: ClosedRange<Double>
    ) async throws {
        let task = Sample.task(.deleting, channelID: "abc==")
        let ledger = FakeLedger(task.channel)
        _ = try await Self.calls(FakeGateway(deletions: [answer]), ledger).delete(task)
        guard case .notDeleted(reason, let next)? = ledger.recorded.first else {
            Issue.record("\(ledger.recorded)")
            return
        }
        #expect(pause.contains(next.timeIntervalSince(Sample.now)))
    }

    @Test func `a channel that never got an ID is deleted without asking`() async throws {
        let task = Sample.task(.deleting)
        let gateway = FakeGateway()
        let ledger = FakeLedger(task.channel)
        _ = try await Self.calls(gateway, ledger).delete(task)
        #expect(ledger.recorded == [.deleted])
        #expect(gateway.calls.deleted.isEmpty)
    }
}
