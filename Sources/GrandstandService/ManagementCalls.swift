package import APNsWire
package import FoundationEssentials
package import Grandstand

/// Management calls that mind how Apple wants the bundle ID spelled: as registered, or lowercased when an ID with capitals
/// ends in `TopicMismatch` (docs/apns.md section 7). The spelling is examined once and remembered for a week, or until
/// it fails; bundle IDs without capitals are never examined.
package struct ManagementCalls: Sendable {
    private let gateway: any APNsGateway
    private let examinations: Examinations
    private let now: @Sendable () -> Date

    /// Seconds in which a spelling that fails is not examined again: the cause is another then.
    private static let reexaminationPause: TimeInterval = 3_600

    package init(gateway: any APNsGateway, examinations: Examinations, now: @escaping @Sendable () -> Date) {
        self.gateway = gateway
        self.examinations = examinations
        self.now = now
    }

    package func create(_ policy: StoragePolicy, at address: APNsAddress) async -> APNsAnswer<String> {
        await perform(at: address) { await gateway.createChannel(policy, at: $0, requestID: UUID()) }
    }

    package func read(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await perform(at: address) { await gateway.readChannel(channelID, at: $0) }
    }

    package func delete(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<Void> {
        await perform(at: address) { await gateway.deleteChannel(channelID, at: $0, requestID: UUID()) }
    }

    package func list(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await perform(at: address) { await gateway.listChannels(at: $0) }
    }

    /// Whether the key file that signs for `address` can be used.
    package func keyFile(of address: APNsAddress) async -> KeyFileState {
        await gateway.keyFile(of: address.credentials)
    }

    private typealias Call<Value: Sendable> = @Sendable (APNsAddress) async -> APNsAnswer<Value>

    private func perform<Value: Sendable>(
        at address: APNsAddress, _ call: @escaping Call<Value>
    ) async -> APNsAnswer<Value> {
        guard address.bundleID.hasCapitals else { return await call(address) }
        let isBelieved = address.managementPathBelievedUntil.map { $0 > now() } ?? false
        let failed = isBelieved ? await call(address) : nil
        if let failed, !failed.isTopicMismatch { return failed }
        switch await examine(address, concludedWithin: isBelieved ? Self.reexaminationPause : Quirk.belief, call) {
        case .examined(let answer): return answer
        case .known(let value):
            let path = APNsAddress.ManagementPath(rawValue: value) ?? .registered
            if let failed, path == address.managementPath { return failed }
            return await call(address.spelled(path))
        case .inconclusive:
            // Neither was anything made: a mismatch changes nothing.
            return .withheld("how APNs wants the bundle ID spelled could not be found out yet")
        case .unavailable:
            if let failed { return failed }
            return await call(address)
        }
    }

    /// Makes the call in the registered spelling and, if that is a mismatch, lowercased; or returns what another caller
    /// has found within so many seconds.
    private func examine<Value: Sendable>(
        _ address: APNsAddress, concludedWithin seconds: TimeInterval, _ call: @escaping Call<Value>
    ) async -> Examinations.Outcome<APNsAnswer<Value>> {
        await examinations.examine(
            .managementPath, for: address.app, concludedSince: now().addingTimeInterval(-seconds), waits: true
        ) {
            let first = await call(address.spelled(.registered))
            guard first.isTopicMismatch else {
                return (first, first.topicWasAccepted ? Self.finding(.registered, "accepted as registered") : .nothing)
            }
            let second = await call(address.spelled(.lowercased))
            if second.isTopicMismatch {
                return (first, Self.finding(.registered, "TopicMismatch as registered and in lowercase"))
            }
            let evidence = "TopicMismatch as registered, accepted in lowercase"
            return (second, second.topicWasAccepted ? Self.finding(.lowercased, evidence) : .nothing)
        }
    }

    private static func finding(_ path: APNsAddress.ManagementPath, _ evidence: String) -> Examinations.Finding {
        .concluded(path.rawValue, evidence: evidence)
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

    /// Whether the answer shows that Apple knows the topic by this spelling: it was accepted, or refused for something
    /// that is looked at after the topic.
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
