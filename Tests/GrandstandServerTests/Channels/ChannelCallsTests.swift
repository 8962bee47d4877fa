internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

/// What is stored in the ledger after each answer of Apple.
struct ChannelCallsTests {
    private static func calls(
        _ gateway: ScriptedGateway, _ ledger: ScriptedLedger, _ reconciliations: Reconciliations = Reconciliations()
    ) -> ChannelCalls {
        ChannelCalls(
            management: LoopSample.management(gateway), channels: ledger.store, reconciliations: reconciliations.store,
            lease: 10,
            now: { LoopSample.now }, logger: LoopSample.logger)
    }

    /// Records the outcome of a creation with these answers.
    private static func creation(
        _ answers: [APNsAnswer<String>], retries: Bool,
        task: ChannelTask = LoopSample.task(bundleID: LoopSample.plainID)
    ) async throws -> (outcome: ChannelOutcome, calls: ScriptedGateway.Calls) {
        let gateway = ScriptedGateway(creations: answers)
        let ledger = ScriptedLedger(task.channel)
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
        let task = LoopSample.task(bundleID: LoopSample.plainID)
        for (actor, recorded) in [(AuditActor.server, 1), (.commandLine, 0)] {
            let ledger = ScriptedLedger(task.channel)
            ledger.failNext(2)
            let gateway = ScriptedGateway(creations: [.accepted("abc==", .init(requestID: "r"))])
            _ = try? await Self.calls(gateway, ledger).create(task, retries: true, by: actor)
            #expect(ledger.recorded.map(\.change) == Array(repeating: .created(channelID: "abc=="), count: recorded))
        }
    }

    typealias Case = (
        APNsAnswer<String>, attempts: Int, reason: String, looped: Channel.State, pause: ClosedRange<Double>
    )

    /// For each answer: the state that is recorded if the server itself requested the creation, which it repeats after
    /// the pause. A caller gets the error, and the channel is recorded as deleted.
    static let cases: [Case] = [
        // These failures are temporary, so the creation is repeated.
        (.refusing(.serviceUnavailable), 1, "ServiceUnavailable", .creating, 0.25...0.5),
        (.refusing(.tooManyRequests, retryAfter: 60), 1, "TooManyRequests", .creating, 60...60),
        // Each creation finds out by itself whether the capability is on again.
        (.refusing(.broadcastFeatureNotEnabled), 1, "BroadcastFeatureNotEnabled", .failed, 1...2),
        // Only people can remove the causes of these refusals, so the creation is repeated slowly.
        (.refusing(.badRequestParams), 1, "BadRequestParams", .failed, 128...256),
        (.refusing(.cannotCreateChannelConfig), 1, "CannotCreateChannelConfig", .failed, 7.5...15),
        // The request was not sent to Apple.
        (.unsent("no key"), 1, "no key", .creating, 0.25...0.5),
        // Later attempts have longer delays.
        (.unsent("down"), 5, "down", .creating, 4...8),
    ]

    @Test(arguments: cases)
    func `a failed creation is repeated for the server, and not for a caller`(_ test: Case) async throws {
        let task = LoopSample.task(bundleID: LoopSample.plainID, attempts: test.attempts)
        let (looped, _) = try await Self.creation([test.0], retries: true, task: task)
        guard case .notCreated(test.looped, let next?) = looped.change else {
            Issue.record("\(looped)")
            return
        }
        #expect(looped.answer.reason == test.reason)
        #expect(test.pause.contains(next.timeIntervalSince(LoopSample.now)))
        let (asked, _) = try await Self.creation([test.0], retries: false)
        #expect(asked.change == .notCreated(state: .deleted, nextAttemptAt: nil))
    }

    @Test(arguments: [true, false])
    func `without an answer Apple may have created a channel, and only its list can tell`(
        _ retries: Bool
    ) async throws {
        let (outcome, calls) = try await Self.creation([.unanswered("lost")], retries: retries)
        #expect(outcome.change == .unanswered(settleableAt: LoopSample.now.addingTimeInterval(2)))
        #expect(outcome.answer == APNsRecord(status: nil, reason: "lost", requestID: nil))
        #expect(calls.created.count == 1)
    }

    @Test func `a list is read before a creation unless one was read lately, one for all creations of an app`()
        async throws
    {
        let listing = ChannelListing(channelIDs: ["theirs=="])
        var task = LoopSample.task(bundleID: LoopSample.plainID)
        // A list that cannot be read delays no creation, and is not requested for each of them either.
        for (list, witnessed) in [(APNsAnswer.giving(listing), [listing]), (.refusing(.serviceUnavailable), [])] {
            let gateway = ScriptedGateway(creations: [.giving("abc==")], lists: [list])
            let reconciliations = Reconciliations()
            let calls = Self.calls(gateway, ScriptedLedger(task.channel), reconciliations)
            for _ in 0..<3 { _ = try await calls.create(task, retries: true, by: .server) }
            #expect(gateway.calls.listed.count == 1 && gateway.calls.created.count == 3)
            #expect(reconciliations.witnessed == witnessed)
        }
        // A list that another replica has read is also used, for half a minute.
        for (age, lists) in [(29.0, 0), (31.0, 1)] {
            let gateway = ScriptedGateway(creations: [.giving("abc==")], lists: [.giving(listing)])
            task.listAskedAt = LoopSample.now.addingTimeInterval(-age)
            _ = try await Self.calls(gateway, ScriptedLedger(task.channel)).create(task, retries: true, by: .server)
            #expect(gateway.calls.listed.count == lists)
        }
    }

    @Test func `a creation whose lease ended while the list was read is not sent`() async throws {
        let task = LoopSample.task(bundleID: LoopSample.plainID)
        let gateway = ScriptedGateway(lists: [.giving(ChannelListing(channelIDs: []))])
        let ledger = ScriptedLedger(task.channel, mayBegin: false)
        _ = try await Self.calls(gateway, ledger).create(task, retries: true, by: .server)
        #expect(gateway.calls.created.isEmpty && ledger.recorded.isEmpty)
    }

    @Test(arguments: [true, false])
    func `without a place a spare channel is deleted, or a list requested`(hasSpare: Bool) async throws {
        let task = LoopSample.task()
        let gateway = ScriptedGateway(
            creations: [.refusing(.cannotCreateChannelConfig), .giving("abc==")], deletions: [.ok])
        let ledger = ScriptedLedger(
            task.channel, spare: hasSpare ? [LoopSample.task(.deleting, channelID: "old==")] : [])
        let reconciliations = Reconciliations()
        _ = try await Self.calls(gateway, ledger, reconciliations).create(task, retries: false, by: .server)
        #expect(gateway.calls.deleted == (hasSpare ? ["old=="] : []))
        #expect(gateway.calls.created.count == (hasSpare ? 2 : 1))
        #expect(reconciliations.requested == (hasSpare ? [] : [task.address.app]))
        if hasSpare { #expect(ledger.recorded.map(\.change) == [.deleted, .created(channelID: "abc==")]) }
    }

    @Test(arguments: [APNsAnswer<Void>.ok, .refusing(.channelNotRegistered), .refusing(.badChannelId)])
    func `a channel that Apple deleted or does not know becomes deleted`(_ answer: APNsAnswer<Void>) async throws {
        let task = LoopSample.task(.deleting, channelID: "abc==")
        let gateway = ScriptedGateway(deletions: [answer])
        let ledger = ScriptedLedger(task.channel)
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
            let task = LoopSample.task(.deleting, channelID: "abc==")
            let gateway = ScriptedGateway(
                deletions: [.refused(APNsRefusal(status: 404, reason: .badPath))], lists: [list])
            let ledger = ScriptedLedger(task.channel)
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
        let task = LoopSample.task(.deleting, channelID: "abc==", bundleID: LoopSample.plainID)
        let ledger = ScriptedLedger(task.channel)
        _ = try await Self.calls(ScriptedGateway(deletions: [answer]), ledger).delete(task, by: .server)
        let outcome = try #require(ledger.recorded.first)
        guard case .notDeleted(let next) = outcome.change else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.answer.reason == reason)
        #expect(pause.contains(next.timeIntervalSince(LoopSample.now)))
    }
}
