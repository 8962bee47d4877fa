internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// Imports a channel that was created elsewhere. Apple is asked about it first.
struct ChannelOperationsImportTests {
    private static let key = EventKey(rawValue: "final")

    /// Imports `abc==` for the event, and returns what the ledger received.
    private static func imported(
        _ answer: APNsAnswer<StoragePolicy>, keyFile: KeyFileState = .ok,
        _ ledger: ImportLedger = ImportLedger(LoopSample.address(LoopSample.plainID))
    ) async -> (result: Result<Channel, Problem>, imports: [ChannelImport], reads: [String]) {
        let gateway = ScriptedGateway(reads: [answer], keyFile: keyFile)
        do {
            let channel = try await operations(gateway, ledger.channels).import(
                "abc==", of: LoopSample.plainID, in: .production, label: "by hand", eventKey: key, by: .server)
            return (.success(channel), ledger.imports, gateway.calls.read)
        } catch let problem as Problem {
            return (.failure(problem), ledger.imports, gateway.calls.read)
        } catch {
            return (.failure(Problem(.internalError, "\(error)")), ledger.imports, gateway.calls.read)
        }
    }

    @Test(arguments: StoragePolicy.allCases)
    func `a channel that Apple has is imported with Apple's storage policy`(_ policy: StoragePolicy) async throws {
        let (result, imports, reads) = await Self.imported(.accepted(policy, APNsReceipt(requestID: "r")))
        #expect(try result.get().channelID == "abc==")
        #expect(reads == ["abc=="])
        #expect(
            imports == [
                ChannelImport(
                    bundleID: LoopSample.plainID, environment: .production, channelID: "abc==", storagePolicy: policy,
                    label: "by hand", eventKey: Self.key,
                    answer: APNsRecord(status: 200, reason: nil, requestID: "r"))
            ])
    }

    @Test(
        arguments: [
            (.refusing(.channelNotRegistered), .channelNotFound), (.refusing(.badChannelId), .channelNotFound),
            (.refused(APNsRefusal(status: 404, reason: .badPath)), .channelNotFound),
            (.refused(APNsRefusal(status: 410, reason: APNsReason(rawValue: "NewlyInvented"))), .channelNotFound),
            (.refusing(.serviceUnavailable), .apnsRefused), (.refusing(.tooManyRequests), .apnsRefused),
            (.refusing(.topicMismatch), .apnsRefused),
            // Only a 404 means that the channel does not exist.
            (.refused(APNsRefusal(status: 400, reason: .badPath)), .apnsRefused),
            (.unanswered("lost"), .apnsUnanswered), (.unsent("no connection"), .apnsUnanswered),
            (.unsent("no key"), .credentialsMissing),
            // Apple is not asked for an app that is not registered.
            (.giving(.noMessageStored), .appNotFound),
        ] as [(APNsAnswer<StoragePolicy>, Problem.Kind)])
    func `nothing is imported without Apple's confirmation`(
        _ answer: APNsAnswer<StoragePolicy>, _ kind: Problem.Kind
    ) async {
        let (result, imports, reads) = await Self.imported(
            answer, keyFile: kind == .credentialsMissing ? .missing : .ok,
            ImportLedger(kind == .appNotFound ? nil : LoopSample.address(LoopSample.plainID)))
        guard case .failure(let problem) = result else {
            Issue.record("imported")
            return
        }
        #expect(problem.kind == kind && imports.isEmpty && reads.isEmpty == (kind == .appNotFound))
        if kind == .channelNotFound, case .refused(let refusal) = answer {
            #expect(problem.apns == refusal)
            #expect(problem.detail.contains(LoopSample.plainID.rawValue) && problem.detail.contains("production"))
        }
        if kind == .credentialsMissing { #expect(problem.detail.contains("AuthKey_KEY4567890.p8")) }
    }
}

private func operations(_ gateway: ScriptedGateway, _ channels: FakeChannels) -> ChannelOperations {
    let management = LoopSample.management(gateway)
    let calls = ChannelCalls(
        management: management, channels: channels, reconciliations: Reconciliations().store, lease: 10,
        now: { LoopSample.now }, logger: LoopSample.logger)
    return ChannelOperations(
        management: management, channels: channels, calls: calls, lease: 10, now: { LoopSample.now })
}

/// A ledger of one app that accepts imports.
private struct ImportLedger {
    private final class Taken: Sendable { let channels = Mutex<[ChannelImport]>([]) }

    private(set) var channels = FakeChannels()
    private let taken = Taken()

    init(_ known: APNsAddress?) {
        channels.locate = { known?.app == $0 ? known : nil }
        channels.adopt = { [taken] channel in
            taken.channels.withLock { $0.append(channel) }
            return Channel(
                id: UUID(), bundleID: channel.bundleID, environment: channel.environment, channelID: channel.channelID,
                storagePolicy: channel.storagePolicy, state: .active, eventKey: channel.eventKey, label: channel.label,
                reason: nil, attempts: 0, nextAttemptAt: nil, createdAt: LoopSample.now)
        }
    }

    var imports: [ChannelImport] { taken.channels.withLock { $0 } }
}

/// Channels that a caller creates while the app has as many channels as its limit allows.
struct ChannelOperationsQuotaTests {
    private static let full = Problem(.quotaExhausted, "full")

    /// Creates a channel with these answers of the ledger and of Apple.
    private static func create(
        _ reservations: [Result<ChannelTask, Problem>], spare: [ChannelTask], task: ChannelTask,
        deletions: [APNsAnswer<Void>]
    ) async throws -> (result: Result<Channel, Problem>, ledger: ScriptedLedger, calls: ScriptedGateway.Calls) {
        let gateway = ScriptedGateway(creations: [.giving("new==")], deletions: deletions)
        let ledger = ScriptedLedger(task.channel, spare: spare, reservations: reservations)
        let operations = operations(gateway, ledger.store)
        let draft = ChannelDraft(
            bundleID: LoopSample.bundleID, environment: .production, storagePolicy: .noMessageStored, label: nil)
        do {
            return (.success(try await operations.create(draft, by: .server)), ledger, gateway.calls)
        } catch let problem as Problem {
            return (.failure(problem), ledger, gateway.calls)
        }
    }

    @Test(arguments: [true, false])
    func `only a call that changes something may have taken effect without an answer`(changes: Bool) async throws {
        let answer = APNsAnswer<Void>.unanswered("APNs' list of channels cannot be read completely")
        let problem = try await operations(ScriptedGateway(), FakeChannels()).problem(
            answer, address: LoopSample.address(), verb: "list the channels", changes: changes)
        #expect(problem.kind == .apnsUnanswered)
        #expect(problem.detail.contains("may have been done") == changes)
        #expect(problem.detail.contains("did not answer") == changes)
    }

    @Test func `at the limit a retiring channel is deleted before a new one is created`() async throws {
        let task = LoopSample.task()
        let spare = [LoopSample.task(.deleting, channelID: "old==")]
        let (result, ledger, calls) = try await Self.create(
            [.failure(Self.full), .success(task)], spare: spare, task: task, deletions: [.ok])
        #expect(throws: Never.self) { try result.get() }
        #expect(ledger.recorded.map(\.change) == [.deleted, .created(channelID: "new==")])
        #expect(calls.deleted == ["old=="])
    }

    @Test func `without a retiring channel, or if Apple does not delete it, the caller gets the refusal`() async throws
    {
        let task = LoopSample.task()
        let spare = [LoopSample.task(.deleting, channelID: "old==", bundleID: LoopSample.plainID)]
        for (spare, answers) in [([], []), (spare, [APNsAnswer<Void>.unanswered("lost")])] {
            let (result, _, calls) = try await Self.create(
                [.failure(Self.full), .success(task)], spare: spare, task: task, deletions: answers)
            #expect(throws: Self.full) { try result.get() }
            #expect(calls.created.isEmpty)
        }
    }

    @Test func `if another caller takes the freed place, the attempts end`() async throws {
        let task = LoopSample.task()
        let spare = (1...9).map { LoopSample.task(.deleting, channelID: "old-\($0)") }
        let (result, _, calls) = try await Self.create(
            Array(repeating: .failure(Self.full), count: 9), spare: spare, task: task,
            deletions: Array(repeating: .ok, count: 9))
        #expect(throws: Self.full) { try result.get() }
        #expect(calls.deleted.count == 3)
    }
}
