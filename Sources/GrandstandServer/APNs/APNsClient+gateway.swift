package import APNsWire
internal import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import HTTP2
internal import JSON

/// The interface to APNs. Every call ends within the configured request timeout. No call throws: its `APNsAnswer` also
/// says how a call failed.
package protocol APNsGateway: Sendable {
    /// Sends one message to everybody who follows the channel.
    func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void>

    /// Creates a channel and returns Apple's ID. If the result is `unanswered`, APNs may have created the channel, and
    /// only `listChannels` can show whether it did.
    func createChannel(_ storagePolicy: StoragePolicy, at address: APNsAddress) async -> APNsAnswer<String>

    /// Reads a channel's storage policy.
    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy>

    func deleteChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<Void>

    /// Every channel ID of the app in the environment. If any part of the list cannot be read, the result is
    /// `unanswered`, never a shorter list.
    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing>

    /// Whether the key file can be used.
    func keyFileState(of credentials: Credentials) -> Contract.CredentialState
}

/// The interface to APNs for pushes to single devices and activities. Every call ends within the configured request
/// timeout. No call throws: its `APNsAnswer` also says how a call failed.
package protocol DeviceGateway: Sendable {
    /// Sends one push to one device or activity of the app.
    func push(_ push: DevicePush, to address: APNsAddress) async -> APNsAnswer<Void>
}

extension APNsClient: APNsGateway {
    package func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        let message = delivery.message
        guard let channelID = message.channelID else { return .withheld("the message has no channel") }
        return await quirks.learnCapability(delivery.address) { address in
            await perform(
                .broadcast, "POST", APNsPath.broadcasts(of: address.bundleID.rawValue),
                [
                    HTTP2Header(APNsHeader.channelID, channelID, indexing: .never),
                    HTTP2Header(APNsHeader.pushType, PushType.header),
                    HTTP2Header(APNsHeader.priority, String(message.priority.rawValue)),
                    HTTP2Header(APNsHeader.expiration, String(message.apnsExpiration), indexing: .never),
                    Self.requestIDHeader(message.requestID),
                ], body: delivery.body, for: address
            ).map { _ in () }
        }
    }

    package func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress
    ) async -> APNsAnswer<String> {
        let body = #"{"message-storage-policy":\#(storagePolicy.wireValue),"push-type":"\#(PushType.json)"}"#
        return await manage("POST", at: address, body: Array(body.utf8)).map(Self.channelID)
    }

    package func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await manage("GET", at: address, channelID: channelID).map(Self.storagePolicy)
    }

    package func deleteChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<Void> {
        await manage("DELETE", at: address, channelID: channelID).map { _ in () }
    }

    package func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await manage("GET", APNsPath.allChannels(of:), at: address).map(Self.channels)
    }

    package func keyFileState(of credentials: Credentials) -> Contract.CredentialState {
        keys.fileState(of: credentials.keyID)
    }

    private func manage(
        _ method: String, _ path: (String) -> String = APNsPath.channels(of:), at address: APNsAddress,
        channelID: String? = nil, body: [UInt8] = []
    ) async -> APNsAnswer<HTTP2Response> {
        await quirks.withSpelling(address) { address in
            var headers = [Self.requestIDHeader(UUID())]
            if let channelID { headers.append(HTTP2Header(APNsHeader.channelID, channelID, indexing: .never)) }
            return await perform(.manage, method, path(address.managementBundleID), headers, body: body, for: address)
        }
    }

    private static func requestIDHeader(_ id: UUID) -> HTTP2Header {
        HTTP2Header(APNsHeader.requestID, id.uuidString.lowercased(), indexing: .never)
    }

    /// If the answer has no channel ID, the channel may still exist. Only Apple's list of channels shows whether it
    /// does.
    static func channelID(_ response: HTTP2Response) -> String? {
        response[header: APNsHeader.channelID].flatMap { $0.isEmpty ? nil : $0 }
    }

    static func storagePolicy(_ response: HTTP2Response) -> StoragePolicy? {
        guard case .number(let text)? = (try? JSONValue(parsing: response.body))?["message-storage-policy"]?.kind
        else { return nil }
        return StoragePolicy.allCases.first { $0.wireValue == Int(text) }
    }

    /// `nil` unless the body is a JSON object whose member `channels` is an array of IDs only; other members are
    /// allowed. A list that cannot be read completely must not be used.
    static func channels(_ response: HTTP2Response) -> ChannelListing? {
        guard let elements = (try? JSONValue(parsing: response.body))?["channels"]?.elements else { return nil }
        let channelIDs = elements.compactMap(\.string).filter { (1...1_024).contains($0.count) }
        guard channelIDs.count == elements.count else { return nil }
        return ChannelListing(channelIDs: channelIDs)
    }
}

extension APNsAnswer {
    /// Parses an accepted answer. If it cannot be parsed, the call counts as unanswered, because APNs may have processed
    /// it.
    func map<Read: Sendable>(_ read: (Value) -> Read?) -> APNsAnswer<Read> {
        switch self {
        case .accepted(let value, let receipt):
            read(value).map { APNsAnswer<Read>.accepted($0, receipt) }
                ?? .unanswered("APNs accepted the call, but its answer cannot be read completely")
        case .refused(let refusal): .refused(refusal)
        case .unanswered(let why): .unanswered(why)
        case .unsent(let why): .unsent(why)
        case .withheld(let why): .withheld(why)
        }
    }

    /// Whether APNs accepted the provider token and the topic. It checks both before the channel and the quota.
    var hasAcceptedTopic: Bool {
        if case .accepted = self { return true }
        return refusal.map { [.quota, .targetGone].contains($0.meaning) } ?? false
    }
}

extension APNsClient: DeviceGateway {
    package func push(_ push: DevicePush, to address: APNsAddress) async -> APNsAnswer<Void> {
        await perform(
            .device, "POST", APNsPath.device(push.token.hex),
            [
                HTTP2Header(APNsHeader.topic, address.bundleID.rawValue + PushType.topicSuffix),
                HTTP2Header(APNsHeader.pushType, PushType.header),
                HTTP2Header(APNsHeader.priority, String(push.priority.forDevicePush.rawValue)),
                HTTP2Header(APNsHeader.expiration, String(push.expiration), indexing: .never),
                HTTP2Header(APNsHeader.id, push.requestID.uuidString.lowercased(), indexing: .never),
            ] + (push.collapseID.map { [HTTP2Header(APNsHeader.collapseID, $0)] } ?? []),
            body: push.body, for: address
        ).map { _ in () }
    }
}

/// Learns two quirks of an app from APNs' answers.
///
/// - The Broadcast capability: if APNs refuses a call because the capability is off, the first such refusal raises the
///   alarm on all replicas. The next success ends the alarm. Calls continue during the alarm.
/// - The spelling of the bundle ID that management calls need. This is the registered spelling, or lower case if an ID
///   with capitals is refused with `TopicMismatch` (docs/internals/apns.md section 7). After a mismatch the call is
///   repeated with the other spelling, and the accepted spelling is stored.
struct QuirkLearner: Sendable {
    /// If the quirk cannot be stored, the next answer that shows it is another chance.
    let remember: APNsClient.RememberQuirk

    /// Makes a management call with the spelling of the bundle ID that Apple accepts.
    func withSpelling<Value: Sendable>(
        _ address: APNsAddress, _ call: (APNsAddress) async -> APNsAnswer<Value>
    ) async -> APNsAnswer<Value> {
        let first = await learnCapability(address, call)
        guard address.bundleID.hasCapitals, first.refusal?.reason == .topicMismatch else { return first }
        var other = address
        other.managementPath = address.managementPath == .registered ? .lowercased : .registered
        let second = await learnCapability(other, call)
        // Apple refused both spellings, so the refusal has another cause, and the first answer is returned. A mismatch
        // never changes anything at Apple.
        if second.refusal?.reason == .topicMismatch { return first }
        if second.hasAcceptedTopic {
            try? await remember(other.app, .managementPath, other.managementPath, "TopicMismatch")
        }
        return second
    }

    /// `address` contains the state of the alarm at the time when `address` was read. If the alarm was already raised
    /// at that time, a success of the call is newer than the refusal, and ends the alarm.
    func learnCapability<Value: Sendable>(
        _ address: APNsAddress, _ call: (APNsAddress) async -> APNsAnswer<Value>
    ) async -> APNsAnswer<Value> {
        let answer = await call(address)
        switch answer {
        case .accepted where address.isCapabilityOff:
            try? await remember(address.app, .broadcastFeature, .on, "APNs accepted a call")
        case .refused(let refusal) where refusal.reason == .broadcastFeatureNotEnabled && !address.isCapabilityOff:
            let evidence = "\(refusal.reason), request \(refusal.requestID ?? "")"
            try? await remember(address.app, .broadcastFeature, .off, evidence)
        default: break
        }
        return answer
    }
}

/// The metrics of calls to APNs. Labels: `call`, `status` and `reason`.
extension ServerMetrics {
    /// Counts a finished call. Without an answer the status is 0, and the reason is `unanswered`, `unsent` or
    /// `withheld`. Answers about device tokens are also counted by app: the alert on refused tokens uses the share of
    /// refusals. Other answers are counted only in `grandstand_apns_answers_total`.
    func countCall(_ call: APNsClient.Call, of app: AppEnvironment, _ answer: APNsAnswer<HTTP2Response>) {
        let (code, reason) =
            switch answer {
            case .accepted(let response, _): (response.status, "none")
            case .refused(let refusal) where refusal.isHeldBack: (0, "withheld")
            case .refused(let refusal): (refusal.status, refusal.reason.label)
            case .unanswered: (0, "unanswered")
            case .unsent: (0, "unsent")
            case .withheld: (0, "withheld")
            }
        series("grandstand_apns_answers_total", [call.rawValue, "\(code)", reason]).increment(by: 1)
        guard call == .device, reason == "none" || TokenVerdict.tokenReasons.contains(APNsReason(rawValue: reason))
        else { return }
        let result = reason == "none" ? "accepted" : reason
        series("grandstand_token_answers_total", app.labels + [result]).increment(by: 1)
    }

    /// Counts requests that APNs never processed and that are repeated.
    var replays: Series { series("grandstand_apns_replays_total") }

    /// Counts new provider tokens.
    var tokenRenewals: Series { series("grandstand_apns_token_renewals_total") }
}
