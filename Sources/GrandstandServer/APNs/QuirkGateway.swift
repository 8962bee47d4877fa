internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging
internal import Synchronization

/// Stores a quirk that APNs' answers show.
typealias RememberQuirk = @Sendable (Contract.Quirk, AppEnvironment) async throws -> Void

/// Passes every call on to APNs, and learns two quirks of the app from the answers.
///
/// - The Broadcast capability: if APNs refuses a call because the capability is off, the first such refusal raises the
///   alarm on all replicas. The next success ends the alarm. Calls continue during the alarm.
/// - The spelling of the bundle ID that management calls need. This is the registered spelling, or lower case if an ID
///   with capitals is refused with `TopicMismatch` (docs/internals/apns.md section 7). After a mismatch the call is
///   repeated with the other spelling, and the accepted spelling is stored.
struct QuirkGateway: APNsGateway {
    let gateway: any APNsGateway
    let remember: RememberQuirk
    let now: @Sendable () -> Date
    let logger: Logger
    private let corrections = Corrections()

    func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        await watching("a broadcast", delivery.address) { _ in await gateway.send(delivery) }
    }

    func createChannel(_ storagePolicy: StoragePolicy, at address: APNsAddress) async -> APNsAnswer<String> {
        await spelling("a creation", address) { await gateway.createChannel(storagePolicy, at: $0) }
    }

    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await spelling("the reading of a channel", address) { await gateway.readChannel(channelID, at: $0) }
    }

    func deleteChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<Void> {
        await spelling("a deletion", address) { await gateway.deleteChannel(channelID, at: $0) }
    }

    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await spelling("the list of channels", address) { await gateway.listChannels(at: $0) }
    }

    func keyFile(of use: KeyUse) -> KeyFileState { gateway.keyFile(of: use) }

    /// Makes a management call with the spelling of the bundle ID that Apple accepts.
    private func spelling<Value: Sendable>(
        _ name: String, _ address: APNsAddress, _ call: (APNsAddress) async -> APNsAnswer<Value>
    ) async -> APNsAnswer<Value> {
        guard address.bundleID.hasCapitals else { return await watching(name, address, call) }
        let address = corrections.corrected(address)
        let first = await watching(name, address, call)
        guard first.isTopicMismatch else { return first }
        let other = address.spelled(address.managementPath == .registered ? .lowercased : .registered)
        let second = await watching(name, other, call)
        // Apple refused both spellings, so the refusal has another cause, and the first answer is returned. A mismatch
        // never changes anything at Apple.
        if second.isTopicMismatch { return first }
        if second.topicWasAccepted {
            corrections.note(other)
            await remember(
                .managementPath, other.managementPath, of: other.app,
                other.managementPath == .lowercased
                    ? "TopicMismatch as registered, accepted in lowercase"
                    : "TopicMismatch in lowercase, accepted as registered",
                failure: "the spelling that APNs accepts could not be stored")
        }
        return second
    }

    /// `address` contains the state of the alarm at the time when `address` was read. If the alarm was already raised
    /// at that time, a success of the call is newer than the refusal, and ends the alarm.
    private func watching<Value: Sendable>(
        _ name: String, _ address: APNsAddress, _ call: (APNsAddress) async -> APNsAnswer<Value>
    ) async -> APNsAnswer<Value> {
        let answer = await call(address)
        let failure: Logger.Message = "the state of the app's Broadcast capability could not be stored"
        switch answer {
        case .accepted where address.isCapabilityOff:
            await remember(.broadcastFeature, .on, of: address.app, "APNs accepted \(name)", failure: failure)
        case .refused(let refusal) where refusal.reason == .broadcastFeatureNotEnabled && !address.isCapabilityOff:
            let request = refusal.requestID ?? "without an ID"
            await remember(
                .broadcastFeature, .off, of: address.app,
                "APNs refused \(name) with \(refusal.reason) (request \(request))", failure: failure)
        default: break
        }
        return answer
    }

    /// If the quirk cannot be stored, the next answer that shows it is another chance.
    private func remember(
        _ quirk: Contract.QuirkName, _ value: Contract.QuirkValue, of app: AppEnvironment, _ evidence: String,
        failure: Logger.Message
    ) async {
        do {
            try await remember(
                Contract.Quirk(
                    environment: .init(app.environment), quirk: quirk, value: value, learnedAt: now(),
                    evidence: evidence), app)
        } catch {
            logger.failed(failure, error, at: .warning, ["app": "\(app.bundleID)"])
        }
    }

    /// The accepted spellings that this process found. They are for calls whose address was read before the spelling
    /// was stored.
    private final class Corrections: Sendable {
        private let paths = Mutex<[AppEnvironment: Contract.QuirkValue]>([:])

        func note(_ address: APNsAddress) { paths.withLock { $0[address.app] = address.managementPath } }

        /// Returns the address with the spelling that this process found. If the address already has this spelling, the
        /// ledger is up to date and the entry is removed.
        func corrected(_ address: APNsAddress) -> APNsAddress {
            paths.withLock { paths in
                guard let path = paths[address.app] else { return address }
                if path == address.managementPath { paths[address.app] = nil }
                return address.spelled(path)
            }
        }
    }
}

extension APNsAddress {
    fileprivate func spelled(_ path: Contract.QuirkValue) -> APNsAddress {
        var address = self
        address.managementPath = path
        return address
    }
}

extension APNsAnswer {
    fileprivate var isTopicMismatch: Bool {
        if case .refused(let refusal) = self { refusal.reason == .topicMismatch } else { false }
    }

    /// Whether Apple accepted this spelling of the topic: it accepted the call, or refused it for a reason that it
    /// checks after the topic.
    fileprivate var topicWasAccepted: Bool {
        switch self {
        case .accepted: true
        case .refused(let refusal): [.quota, .channelGone].contains(refusal.meaning)
        case .unanswered, .unsent, .withheld: false
        }
    }
}
