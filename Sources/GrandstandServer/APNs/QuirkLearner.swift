internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging

/// Learns two quirks of an app from APNs' answers.
///
/// - The Broadcast capability: if APNs refuses a call because the capability is off, the first such refusal raises the
///   alarm on all replicas. The next success ends the alarm. Calls continue during the alarm.
/// - The spelling of the bundle ID that management calls need. This is the registered spelling, or lower case if an ID
///   with capitals is refused with `TopicMismatch` (docs/internals/apns.md section 7). After a mismatch the call is
///   repeated with the other spelling, and the accepted spelling is stored.
struct QuirkLearner: Sendable {
    /// `nil`: nothing is learned, and no call is repeated.
    let remember: APNsClient.RememberQuirk?
    let now: @Sendable () -> Date
    let logger: Logger

    /// Makes a management call with the spelling of the bundle ID that Apple accepts.
    func spelling<Value: Sendable>(
        _ name: String, _ address: APNsAddress, _ call: (APNsAddress) async -> APNsAnswer<Value>
    ) async -> APNsAnswer<Value> {
        guard remember != nil, address.bundleID.hasCapitals else { return await watching(name, address, call) }
        let first = await watching(name, address, call)
        guard first.isTopicMismatch else { return first }
        let other = address.spelled(address.managementPath == .registered ? .lowercased : .registered)
        let second = await watching(name, other, call)
        // Apple refused both spellings, so the refusal has another cause, and the first answer is returned. A mismatch
        // never changes anything at Apple.
        if second.isTopicMismatch { return first }
        if second.topicWasAccepted {
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
    func watching<Value: Sendable>(
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
            try await remember?(
                Contract.Quirk(
                    environment: .init(app.environment), quirk: quirk, value: value, learnedAt: now(),
                    evidence: evidence), app)
        } catch {
            logger.failed(failure, error, at: .warning, ["app": "\(app.bundleID)"])
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
