internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging
internal import Synchronization

/// Stores a quirk that APNs' answers show.
typealias RememberQuirk = @Sendable (Contract.Quirk, AppEnvironment) async throws -> Void

/// Makes management calls with the spelling of the bundle ID that Apple accepts. This is the registered spelling, or
/// lower case if an ID with capitals is refused with `TopicMismatch` (docs/internals/apns.md section 7). After a
/// mismatch the call is repeated with the other spelling, and the accepted spelling is stored.
struct ManagementCalls: Sendable {
    let gateway: any APNsGateway
    let remember: RememberQuirk
    let now: @Sendable () -> Date
    let logger: Logger
    private let corrections = Corrections()

    func create(_ policy: StoragePolicy, at address: APNsAddress) async -> APNsAnswer<String> {
        await perform(at: address) { await gateway.createChannel(policy, at: $0, requestID: UUID()) }
    }

    func read(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await perform(at: address) { await gateway.readChannel(channelID, at: $0) }
    }

    func delete(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<Void> {
        await perform(at: address) { await gateway.deleteChannel(channelID, at: $0, requestID: UUID()) }
    }

    func list(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await perform(at: address) { await gateway.listChannels(at: $0) }
    }

    /// Whether the signing key file for `address` can be used.
    func keyFile(of address: APNsAddress) -> KeyFileState {
        gateway.keyFile(of: KeyUse(credentials: address.credentials, environment: address.environment))
    }

    private func perform<Value: Sendable>(
        at address: APNsAddress, _ call: (APNsAddress) async -> APNsAnswer<Value>
    ) async -> APNsAnswer<Value> {
        guard address.bundleID.hasCapitals else { return await call(address) }
        let address = corrections.corrected(address)
        let first = await call(address)
        guard first.isTopicMismatch else { return first }
        let other = address.spelled(address.managementPath == .registered ? .lowercased : .registered)
        let second = await call(other)
        // Apple refused both spellings, so the refusal has another cause, and the first answer is returned. A mismatch
        // never changes anything at Apple.
        if second.isTopicMismatch { return first }
        if second.topicWasAccepted { await remember(other) }
        return second
    }

    private func remember(_ address: APNsAddress) async {
        corrections.note(address)
        let (app, path) = (address.app, address.managementPath)
        let quirk = Contract.Quirk(
            environment: .init(app.environment), quirk: .managementPath, value: .init(path), learnedAt: now(),
            evidence: path == .lowercased
                ? "TopicMismatch as registered, accepted in lowercase"
                : "TopicMismatch in lowercase, accepted as registered")
        do {
            try await remember(quirk, app)
        } catch {
            // The next mismatch is another chance to store the spelling.
            logger.failed(
                "the spelling that APNs accepts could not be stored", error, at: .warning, ["app": "\(app.bundleID)"])
        }
    }

    /// The accepted spellings that this process found. They are for calls whose address was read before the spelling
    /// was stored.
    private final class Corrections: Sendable {
        private let paths = Mutex<[AppEnvironment: APNsAddress.ManagementPath]>([:])

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
    fileprivate func spelled(_ path: ManagementPath) -> APNsAddress {
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
        case .refused(let refusal):
            switch refusal.meaning {
            case .quota, .channelGone: true
            case .badRequest, .configuration, .credentials, .throttled, .unavailable: false
            }
        case .unanswered, .unsent, .withheld: false
        }
    }
}
