internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// Passes every call on to APNs. If APNs refuses a call because the app's Broadcast capability is off, the first such
/// refusal raises the alarm on all replicas. The next success ends the alarm. Calls continue during the alarm.
struct CapabilityWatch: APNsGateway {
    private let gateway: any APNsGateway
    private let quirks: any QuirkStore
    private let now: @Sendable () -> Date
    private let logger: Logger

    init(gateway: any APNsGateway, quirks: any QuirkStore, now: @escaping @Sendable () -> Date, logger: Logger) {
        self.gateway = gateway
        self.quirks = quirks
        self.now = now
        self.logger = logger
    }

    func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void> {
        await watching("a broadcast", address) { await gateway.send(message, to: address) }
    }

    func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> {
        await watching("a creation", address) {
            await gateway.createChannel(storagePolicy, at: address, requestID: requestID)
        }
    }

    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await watching("the reading of a channel", address) { await gateway.readChannel(channelID, at: address) }
    }

    func deleteChannel(_ channelID: String, at address: APNsAddress, requestID: UUID) async -> APNsAnswer<Void> {
        await watching("a deletion", address) {
            await gateway.deleteChannel(channelID, at: address, requestID: requestID)
        }
    }

    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await watching("the list of channels", address) { await gateway.listChannels(at: address) }
    }

    func keyFile(of use: KeyUse) -> KeyFileState { gateway.keyFile(of: use) }

    /// `address` contains the state of the alarm at the time when `address` was read. If the alarm was already raised
    /// at that time, a success of the call is newer than the refusal, and ends the alarm.
    private func watching<Value: Sendable>(
        _ call: String, _ address: APNsAddress, _ body: () async -> APNsAnswer<Value>
    ) async -> APNsAnswer<Value> {
        let answer = await body()
        switch answer {
        case .accepted where address.isCapabilityOff:
            await remember(.on, of: address.app, evidence: "APNs accepted \(call)")
        case .refused(let refusal) where refusal.reason == .broadcastFeatureNotEnabled && !address.isCapabilityOff:
            let request = refusal.requestID ?? "without an ID"
            await remember(
                .off, of: address.app, evidence: "APNs refused \(call) with \(refusal.reason) (request \(request))")
        default: break
        }
        return answer
    }

    private func remember(_ value: Quirk.BroadcastFeature, of app: AppEnvironment, evidence: String) async {
        do {
            let quirk = Quirk(
                environment: app.environment, name: .broadcastFeature, value: value.rawValue, learnedAt: now(),
                evidence: evidence)
            try await quirks.remember(quirk, for: app)
        } catch {
            // The next answer is another chance to store the state.
            logger.failed(
                "the state of the app's Broadcast capability could not be stored", error, at: .warning,
                ["app": "\(app.bundleID)"])
        }
    }
}
