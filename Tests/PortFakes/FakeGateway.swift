package import APNsWire
package import FoundationEssentials
package import Grandstand

/// An `APNsGateway` whose answers the test sets. Its calls cannot throw, so a call that the test does not expect is
/// unanswered.
package struct FakeGateway: APNsGateway {
    package var state = KeyFileState.missing
    package var create: @Sendable (StoragePolicy, APNsAddress) -> APNsAnswer<String> = { _, _ in .unanswered("unasked")
    }
    package var read: @Sendable (String, APNsAddress) -> APNsAnswer<StoragePolicy> = { _, _ in .unanswered("unasked") }
    package var delete: @Sendable (String, APNsAddress) -> APNsAnswer<Void> = { _, _ in .unanswered("unasked") }
    package var list: @Sendable (APNsAddress) -> APNsAnswer<ChannelListing> = { _ in .unanswered("unasked") }

    package init() {}

    package func keyFile(of use: KeyUse) async -> KeyFileState { state }
    package func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void> {
        .unanswered("unasked")
    }
    package func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> { create(storagePolicy, address) }
    package func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        read(channelID, address)
    }
    package func deleteChannel(
        _ channelID: String, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<Void> { delete(channelID, address) }
    package func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> { list(address) }
}
