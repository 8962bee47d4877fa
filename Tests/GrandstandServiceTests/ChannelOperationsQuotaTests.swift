internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandService

/// Channels that a caller creates while the app has as many channels as its limit allows.
struct ChannelOperationsQuotaTests {
    private static let full = Problem(.quotaExhausted, "full")

    /// Creates a channel with these answers of the ledger and of Apple.
    private static func create(
        _ reservations: [Result<ChannelTask, Problem>], spare: [ChannelTask], task: ChannelTask,
        deletions: [APNsAnswer<Void>]
    ) async throws -> (result: Result<Channel, Problem>, ledger: FakeLedger, calls: FakeGateway.Calls) {
        let gateway = FakeGateway(
            creations: [.accepted("new==", APNsReceipt(requestID: nil))], deletions: deletions)
        let management = Sample.management(gateway)
        let ledger = FakeLedger(task.channel, spare: spare, reservations: reservations)
        let calls = ChannelCalls(
            management: management, channels: ledger, reconciliations: FakeReconciliations(), lease: 10,
            now: { Sample.now }, logger: Sample.logger)
        let operations = ChannelOperations(
            management: management, channels: ledger, calls: calls, lease: 10, now: { Sample.now })
        let draft = ChannelDraft(
            bundleID: Sample.bundleID, environment: .production, storagePolicy: .noMessageStored, label: nil)
        do {
            return (.success(try await operations.create(draft, by: .server)), ledger, gateway.calls)
        } catch let problem as Problem {
            return (.failure(problem), ledger, gateway.calls)
        }
    }

    @Test(arguments: [true, false])
    func `only a call that changes something may have taken effect without an answer`(changes: Bool) async throws {
        let (management, task) = (Sample.management(FakeGateway()), Sample.task())
        let ledger = FakeLedger(task.channel, spare: [], reservations: [])
        let calls = ChannelCalls(
            management: management, channels: ledger, reconciliations: FakeReconciliations(), lease: 10,
            now: { Sample.now }, logger: Sample.logger)
        let operations = ChannelOperations(
            management: management, channels: ledger, calls: calls, lease: 10, now: { Sample.now })
        let answer = APNsAnswer<Void>.unanswered("APNs' list of channels cannot be read completely")
        let problem = try await operations.problem(
            answer, address: task.address, verb: "list the channels", changes: changes)
        #expect(problem.kind == .apnsUnanswered)
        #expect(problem.detail.contains("may have been done") == changes)
        #expect(problem.detail.contains("did not answer") == changes)
    }

    @Test func `at the limit a retiring channel is deleted before a new one is created`() async throws {
        let task = Sample.task()
        let (result, ledger, calls) = try await Self.create(
            [.failure(Self.full), .success(task)], spare: [Sample.task(.deleting, channelID: "old==")], task: task,
            deletions: [.accepted((), APNsReceipt(requestID: nil))])
        #expect(throws: Never.self) { try result.get() }
        #expect(ledger.recorded.map(\.change) == [.deleted, .created(channelID: "new==")])
        #expect(calls.deleted == ["old=="])
    }

    @Test func `without a retiring channel, or if Apple does not delete it, the caller gets the refusal`() async throws
    {
        let task = Sample.task()
        let spare = [Sample.task(.deleting, channelID: "old==", bundleID: Sample.plainID)]
        for (spare, answers) in [([], []), (spare, [APNsAnswer<Void>.unanswered("lost")])] {
            let (result, _, calls) = try await Self.create(
                [.failure(Self.full), .success(task)], spare: spare, task: task, deletions: answers)
            #expect(throws: Self.full) { try result.get() }
            #expect(calls.created.isEmpty)
        }
    }

    @Test func `if another caller takes the freed place, the attempts end`() async throws {
        let task = Sample.task()
        let spare = (1...9).map { Sample.task(.deleting, channelID: "old-\($0)") }
        let (result, _, calls) = try await Self.create(
            Array(repeating: .failure(Self.full), count: 9), spare: spare, task: task,
            deletions: Array(repeating: .accepted((), APNsReceipt(requestID: nil)), count: 9))
        #expect(throws: Self.full) { try result.get() }
        #expect(calls.deleted.count == 3)
    }
}
