internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging

/// Passes every call on to APNs. If APNs refuses a call because the app's Broadcast capability is off, the first such
/// refusal raises the alarm on all replicas. The next success ends the alarm. Calls continue during the alarm.
struct CapabilityWatch: APNsGateway {
    let gateway: any APNsGateway
    let remember: RememberQuirk
    let now: @Sendable () -> Date
    let logger: Logger

    func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        await watching("a broadcast", delivery.address) { await gateway.send(delivery) }
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

    private func remember(_ value: Contract.QuirkValue, of app: AppEnvironment, evidence: String) async {
        do {
            let quirk = Contract.Quirk(
                environment: .init(app.environment), quirk: .broadcastFeature, value: value, learnedAt: now(),
                evidence: evidence)
            try await remember(quirk, app)
        } catch {
            // The next answer is another chance to store the state.
            logger.failed(
                "the state of the app's Broadcast capability could not be stored", error, at: .warning,
                ["app": "\(app.bundleID)"])
        }
    }
}
