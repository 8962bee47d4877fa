internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandService

/// What is stored in the ledger after each answer of Apple.
struct ChannelCallsTests {
    private static func calls(
        _ gateway: FakeGateway, _ ledger: FakeLedger, _ reconciliations: Reconciliations = Reconciliations()
    ) -> ChannelCalls {
        ChannelCalls(
            management: Sample.management(gateway), channels: ledger.store, reconciliations: reconciliations.store,
            lease: 10,
            now: { Sample.now }, logger: Sample.logger)
    }

    /// Records the outcome of a creation with these answers.
    private static func creation(
        _ answers: [APNsAnswer<String>], retries: Bool, task: ChannelTask = Sample.task(bundleID: Sample.plainID)
    ) async throws -> (outcome: ChannelOutcome, calls: FakeGateway.Calls) {
        let gateway = FakeGateway(creations: answers)
        let ledger = FakeLedger(task.channel)
        _ = try await calls(gateway, ledger).create(task, retries: retries, by: .server)
        try #require(ledger.recorded.count == 1)
        return (ledger.recorded[0], gateway.calls)
    }

    @Test(arguments: [true, false])
    func `an accepted creation is recorded with Apple's ID`(_ retries: Bool) async throws {
        let (outcome, calls) = try await Self.creation([.accepted("abc==", .init(requestID: "r"))], retries: retries)
        #expect(outcome.change == .created(channelID: "abc=="))
        #expect(outcome.answer == APNsRecord(status: 201, reason: nil, requestID: "r"))
        #expect(calls.created.count == 1)
    }

    @Test
    func
        `the outcome of the server's own creation is recorded when the database is back, and that of a caller's is left to Apple's list`()
        async throws
    {
        let task = Sample.task(bundleID: Sample.plainID)
        for (actor, recorded) in [(AuditActor.server, 1), (.commandLine, 0)] {
            let ledger = FakeLedger(task.channel)
            ledger.failNext(2)
            let gateway = FakeGateway(creations: [.accepted("abc==", .init(requestID: "r"))])
            _ = try? await Self.calls(gateway, ledger).create(task, retries: true, by: actor)
            #expect(ledger.recorded.map(\.change) == Array(repeating: .created(channelID: "abc=="), count: recorded))
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let answer: APNsAnswer<String>
        let reason: String
        /// The state that is recorded if the server itself requested the creation. The server repeats such a creation.
        /// If a caller requested the creation, the caller gets the error and the channel is recorded as deleted.
        let looped: Channel.State
        /// Seconds until the next attempt.
        let pause: ClosedRange<Double>

        var testDescription: String { reason }
    }

    static let cases: [Case] = [
        // These failures are temporary, so the creation is repeated.
        .init(
            answer: .refusing(.serviceUnavailable), reason: "ServiceUnavailable", looped: .creating,
            pause: 0.25...0.5),
        .init(
            answer: .refusing(.tooManyRequests, retryAfter: 60), reason: "TooManyRequests",
            looped: .creating, pause: 60...60),
        // Each creation finds out by itself whether the capability is on again.
        .init(
            answer: .refusing(.broadcastFeatureNotEnabled), reason: "BroadcastFeatureNotEnabled",
            looped: .failed, pause: 1...2),
        // Only people can remove the causes of these refusals, so the creation is repeated slowly.
        .init(answer: .refusing(.badRequestParams), reason: "BadRequestParams", looped: .failed, pause: 128...256),
        .init(
            answer: .refusing(.cannotCreateChannelConfig), reason: "CannotCreateChannelConfig",
            looped: .failed, pause: 7.5...15),
        // The request was not sent to Apple.
        .init(answer: .unsent("no key"), reason: "no key", looped: .creating, pause: 0.25...0.5),
    ]

    @Test(arguments: cases)
    func `a failed creation is repeated for the server, and not for a caller`(_ test: Case) async throws {
        let (looped, _) = try await Self.creation([test.answer], retries: true)
        guard case .notCreated(let state, let next) = looped.change else {
            Issue.record("\(looped)")
            return
        }
        #expect(looped.answer.reason == test.reason)
        #expect(state == test.looped)
        #expect(test.pause.contains(try #require(next).timeIntervalSince(Sample.now)))

        let (asked, _) = try await Self.creation([test.answer], retries: false)
        #expect(asked.change == .notCreated(state: .deleted, nextAttemptAt: nil))
    }

    @Test(arguments: [true, false])
    func `without an answer Apple may have created a channel, and only its list can tell`(
        _ retries: Bool
    ) async throws {
        let (outcome, calls) = try await Self.creation([.unanswered("lost")], retries: retries)
        #expect(outcome.change == .unanswered(settleableAt: Sample.now.addingTimeInterval(2)))
        #expect(outcome.answer == APNsRecord(status: nil, reason: "lost", requestID: nil))
        #expect(calls.created.count == 1)
    }

    @Test func `a list is read before a creation unless one was read lately, one for all creations of an app`()
        async throws
    {
        let listing = ChannelListing(channelIDs: ["theirs=="])
        let gateway = FakeGateway(creations: [.giving("abc==")], lists: [.giving(listing)])
        let reconciliations = Reconciliations()
        var task = Sample.task(bundleID: Sample.plainID)
        let calls = Self.calls(gateway, FakeLedger(task.channel), reconciliations)
        for _ in 0..<3 { _ = try await calls.create(task, retries: true, by: .server) }
        #expect(gateway.calls.listed.count == 1 && gateway.calls.created.count == 3)
        #expect(reconciliations.witnessed == [listing])

        // A list that another replica has read is also used, for half a minute.
        for (age, lists) in [(29.0, 0), (31.0, 1)] {
            let gateway = FakeGateway(creations: [.giving("abc==")], lists: [.giving(listing)])
            task.listAskedAt = Sample.now.addingTimeInterval(-age)
            _ = try await Self.calls(gateway, FakeLedger(task.channel)).create(task, retries: true, by: .server)
            #expect(gateway.calls.listed.count == lists)
        }
    }

    @Test func `a list that cannot be read delays no creation, and is not requested for each of them`() async throws {
        let task = Sample.task(bundleID: Sample.plainID)
        let gateway = FakeGateway(creations: [.giving("abc==")], lists: [.refusing(.serviceUnavailable)])
        let reconciliations = Reconciliations()
        let calls = Self.calls(gateway, FakeLedger(task.channel), reconciliations)
        for _ in 0..<3 { _ = try await calls.create(task, retries: true, by: .server) }
        #expect(gateway.calls.listed.count == 1 && gateway.calls.created.count == 3)
        #expect(reconciliations.witnessed.isEmpty)
    }

    @Test func `a creation whose lease ended while the list was read is not sent`() async throws {
        let task = Sample.task(bundleID: Sample.plainID)
        let gateway = FakeGateway(lists: [.giving(ChannelListing(channelIDs: []))])
        let ledger = FakeLedger(task.channel, mayBegin: false)
        _ = try await Self.calls(gateway, ledger).create(task, retries: true, by: .server)
        #expect(gateway.calls.created.isEmpty && ledger.recorded.isEmpty)
    }

    @Test func `later attempts have longer delays`() async throws {
        let (outcome, _) = try await Self.creation(
            [.unsent("down")], retries: true, task: Sample.task(bundleID: Sample.plainID, attempts: 5))
        guard case .notCreated(_, let next?) = outcome.change else {
            Issue.record("\(outcome)")
            return
        }
        #expect((4.0...8.0).contains(next.timeIntervalSince(Sample.now)))
    }

    @Test func `when Apple has no place left an unneeded channel is deleted, and the creation is sent again`()
        async throws
    {
        let task = Sample.task()
        let spare = Sample.task(.deleting, channelID: "old==")
        let gateway = FakeGateway(
            creations: [.refusing(.cannotCreateChannelConfig), .giving("abc==")],
            deletions: [.ok])
        let ledger = FakeLedger(task.channel, spare: [spare])
        let reconciliations = Reconciliations()
        _ = try await Self.calls(gateway, ledger, reconciliations).create(task, retries: false, by: .server)
        #expect(ledger.recorded.map(\.change) == [.deleted, .created(channelID: "abc==")])
        #expect(gateway.calls.deleted == ["old=="])
        #expect(reconciliations.requested.isEmpty)
    }

    @Test func `when Apple has no place left and no channel can be deleted, its list is requested`() async throws {
        let task = Sample.task()
        let gateway = FakeGateway(creations: [.refusing(.cannotCreateChannelConfig)])
        let reconciliations = Reconciliations()
        let ledger = FakeLedger(task.channel)
        _ = try await Self.calls(gateway, ledger, reconciliations).create(task, retries: false, by: .server)
        #expect(gateway.calls.created.count == 1)
        #expect(reconciliations.requested == [task.address.app])
    }

    @Test(arguments: [APNsAnswer<Void>.ok, .refusing(.channelNotRegistered), .refusing(.badChannelId)])
    func `a channel that Apple deleted or does not know becomes deleted`(_ answer: APNsAnswer<Void>) async throws {
        let task = Sample.task(.deleting, channelID: "abc==")
        let gateway = FakeGateway(deletions: [answer])
        let ledger = FakeLedger(task.channel)
        _ = try await Self.calls(gateway, ledger).delete(task, by: .server)
        #expect(ledger.recorded.map(\.change) == [.deleted])
        #expect(gateway.calls.deleted == ["abc=="])
        #expect(gateway.calls.listed.isEmpty)
    }

    @Test func `after a 404 a channel counts as gone only if the list agrees`() async throws {
        let lists: [(APNsAnswer<ChannelListing>, isGone: Bool)] = [
            (.giving(ChannelListing(channelIDs: ["other=="])), true),
            (.giving(ChannelListing(channelIDs: ["abc=="])), false),
            // The list is answered with 404, too, because the path is wrong. So the first 404 does not show that the
            // channel is gone.
            (.refused(APNsRefusal(status: 404, reason: .badPath)), false),
            (.unanswered("lost"), false),
        ]
        for (list, isGone) in lists {
            let task = Sample.task(.deleting, channelID: "abc==")
            let gateway = FakeGateway(deletions: [.refused(APNsRefusal(status: 404, reason: .badPath))], lists: [list])
            let ledger = FakeLedger(task.channel)
            _ = try await Self.calls(gateway, ledger).delete(task, by: .server)
            #expect(ledger.recorded.map { $0.change == .deleted } == [isGone], "\(list)")
        }
    }

    @Test(arguments: [
        (APNsAnswer<Void>.refusing(.serviceUnavailable), "ServiceUnavailable", 0.25...0.5),
        (.refusing(.topicMismatch), "TopicMismatch", 128.0...256.0),
        // Only a 404 means that the channel does not exist.
        (.refused(APNsRefusal(status: 400, reason: .badPath)), "BadPath", 128.0...256.0),
        (.unanswered("lost"), "lost", 0.25...0.5),
        (.unsent("no key"), "no key", 0.25...0.5),
    ])
    func `a failed deletion is repeated`(
        _ answer: APNsAnswer<Void>, _ reason: String, _ pause: ClosedRange<Double>
    ) async throws {
        let task = Sample.task(.deleting, channelID: "abc==", bundleID: Sample.plainID)
        let ledger = FakeLedger(task.channel)
        _ = try await Self.calls(FakeGateway(deletions: [answer]), ledger).delete(task, by: .server)
        let outcome = try #require(ledger.recorded.first)
        guard case .notDeleted(let next) = outcome.change else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.answer.reason == reason)
        #expect(pause.contains(next.timeIntervalSince(Sample.now)))
    }
}
