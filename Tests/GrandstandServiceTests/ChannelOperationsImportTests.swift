internal import APNsWire
internal import Foundation
internal import Grandstand
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// Imports a channel that was created elsewhere. Apple is asked about it first.
struct ChannelOperationsImportTests {
    private static let key = EventKey(rawValue: "final")

    private static func operations(_ gateway: FakeGateway, _ ledger: ImportLedger) -> ChannelOperations {
        let management = Sample.management(gateway)
        return ChannelOperations(
            management: management, channels: ledger.channels,
            calls: ChannelCalls(
                management: management, channels: ledger.channels, reconciliations: FakeReconciliations(), lease: 10,
                now: { Sample.now }, logger: Sample.logger),
            lease: 10, now: { Sample.now })
    }

    /// Imports `abc==` for the event, and returns what the ledger received.
    private static func imported(
        _ answer: APNsAnswer<StoragePolicy>, keyFile: KeyFileState = .ok,
        _ ledger: ImportLedger = ImportLedger(Sample.address(Sample.plainID))
    ) async -> (result: Result<Channel, Problem>, imports: [ChannelImport], reads: [String]) {
        let gateway = FakeGateway(reads: [answer], keyFile: keyFile)
        do {
            let channel = try await operations(gateway, ledger).import(
                "abc==", of: Sample.plainID, in: .production, label: "by hand", eventKey: key, by: .server)
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
                    bundleID: Sample.plainID, environment: .production, channelID: "abc==", storagePolicy: policy,
                    label: "by hand", eventKey: Self.key,
                    answer: APNsRecord(status: 200, reason: nil, requestID: "r"))
            ])
    }

    @Test(arguments: [
        Sample.refusal(.channelNotRegistered), Sample.refusal(.badChannelId),
        APNsRefusal(status: 404, reason: .badPath),
        APNsRefusal(status: 410, reason: APNsReason(rawValue: "NewlyInvented")),
    ])
    func `a channel that Apple does not know for the app in this environment is not imported`(_ refusal: APNsRefusal)
        async
    {
        let (result, imports, _) = await Self.imported(.refused(refusal))
        guard case .failure(let problem) = result else {
            Issue.record("imported")
            return
        }
        #expect(problem.kind == .channelNotFound)
        #expect(problem.apns == refusal)
        #expect(problem.detail.contains(Sample.plainID.rawValue) && problem.detail.contains("production"))
        #expect(imports.isEmpty)
    }

    @Test(arguments: [
        (APNsAnswer<StoragePolicy>.refused(Sample.refusal(.serviceUnavailable)), Problem.Kind.apnsRefused),
        (.refused(Sample.refusal(.tooManyRequests)), .apnsRefused),
        (.refused(Sample.refusal(.internalServerError)), .apnsRefused),
        (.refused(Sample.refusal(.topicMismatch)), .apnsRefused),
        // Only a 404 means that the channel does not exist.
        (.refused(APNsRefusal(status: 400, reason: .badPath)), .apnsRefused),
        (.unanswered("lost"), .apnsUnanswered),
        (.unsent("no connection"), .apnsUnanswered),
    ])
    func `while Apple gives no answer nothing is imported`(
        _ answer: APNsAnswer<StoragePolicy>, _ kind: Problem.Kind
    ) async {
        let (result, imports, _) = await Self.imported(answer)
        #expect(throws: Problem.self) { try result.get() }
        if case .failure(let problem) = result { #expect(problem.kind == kind) }
        #expect(imports.isEmpty)
    }

    @Test func `without the key file the problem says that Apple cannot be asked`() async {
        let (result, imports, _) = await Self.imported(.unsent("no key"), keyFile: .missing)
        guard case .failure(let problem) = result else {
            Issue.record("imported")
            return
        }
        #expect(problem.kind == .credentialsMissing)
        #expect(problem.detail.contains("AuthKey_KEY4567890.p8"))
        #expect(imports.isEmpty)
    }

    @Test func `for an app that is not registered Apple is not asked`() async {
        let (result, imports, reads) = await Self.imported(
            .accepted(.noMessageStored, APNsReceipt(requestID: nil)), ImportLedger(nil))
        guard case .failure(let problem) = result else {
            Issue.record("imported")
            return
        }
        #expect(problem.kind == .appNotFound)
        #expect(reads.isEmpty && imports.isEmpty)
    }

    @Test(arguments: [Problem.Kind.channelExists, .eventNotFound, .eventEnded, .invalidRequest])
    func `a refusal by the ledger is returned unchanged`(_ kind: Problem.Kind) async {
        let refusal = Problem(kind, "The ledger's own words.")
        let ledger = ImportLedger(Sample.address(Sample.plainID), refusal: refusal)
        let (result, _, _) = await Self.imported(.accepted(.noMessageStored, APNsReceipt(requestID: nil)), ledger)
        #expect(result == .failure(refusal))
    }
}

/// A ledger of one app that accepts imports, or refuses them with a reason.
private struct ImportLedger {
    private final class Taken: Sendable { let channels = Mutex<[ChannelImport]>([]) }

    private(set) var channels = FakeChannels()
    private let taken = Taken()

    init(_ known: APNsAddress?, refusal: Problem? = nil) {
        channels.locate = { known?.app == $0 ? known : nil }
        channels.adopt = { [taken] channel in
            if let refusal { throw refusal }
            taken.channels.withLock { $0.append(channel) }
            return Channel(
                id: UUID(), bundleID: channel.bundleID, environment: channel.environment, channelID: channel.channelID,
                storagePolicy: channel.storagePolicy, state: .active, eventKey: channel.eventKey, label: channel.label,
                reason: nil, attempts: 0, nextAttemptAt: nil, createdAt: Sample.now)
        }
    }

    var imports: [ChannelImport] { taken.channels.withLock { $0 } }
}
