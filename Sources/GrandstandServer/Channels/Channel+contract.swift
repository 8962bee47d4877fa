internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Contract.Channel {
    /// A channel of the ledger.
    ///
    /// - Parameter verified: the result of asking Apple about it; `nil`: Apple was not asked.
    init(_ channel: Channel, verified: Contract.Verification? = nil) {
        self.init(
            id: channel.id.words, channelId: channel.channelID, bundleId: channel.bundleID.rawValue,
            environment: .init(channel.environment), variant: channel.variant?.rawValue,
            storagePolicy: .init(channel.storagePolicy), state: channel.state,
            eventKey: channel.eventKey?.rawValue, label: channel.label, reason: channel.reason,
            nextAttemptAt: channel.nextAttemptAt, createdAt: channel.createdAt, managed: true, verified: verified)
    }

    /// A channel that Apple lists and the ledger does not have.
    init(_ channel: UnmanagedChannel, of app: AppEnvironment) {
        self.init(
            channelId: channel.channelID, bundleId: app.bundleID.rawValue, environment: .init(app.environment),
            storagePolicy: channel.storagePolicy.map(Contract.StoragePolicy.init), firstSeenAt: channel.firstSeenAt,
            managed: false)
    }
}
