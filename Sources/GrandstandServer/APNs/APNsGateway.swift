package import APNsWire
package import Grandstand
package import GrandstandContract

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

    /// Whether the key file can be used, and whether APNs refused the key for this process.
    func keyFile(of use: KeyUse) -> (state: Contract.CredentialState, refusal: KeyRefusal?)
}
