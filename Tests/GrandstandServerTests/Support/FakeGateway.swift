internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

@testable internal import GrandstandServer

/// An `APNsGateway` whose answers the test sets. Its calls cannot throw, so a call that the test does not expect is
/// unanswered.
struct FakeGateway: APNsGateway {
    var state = Contract.CredentialState.missing
    var create: @Sendable (StoragePolicy, APNsAddress) -> APNsAnswer<String> = { _, _ in .unanswered("unasked")
    }
    var read: @Sendable (String, APNsAddress) -> APNsAnswer<StoragePolicy> = { _, _ in .unanswered("unasked") }
    var delete: @Sendable (String, APNsAddress) -> APNsAnswer<Void> = { _, _ in .unanswered("unasked") }
    var list: @Sendable (APNsAddress) -> APNsAnswer<ChannelListing> = { _ in .unanswered("unasked") }

    func keyFile(of use: KeyUse) -> (state: Contract.CredentialState, refusal: KeyRefusal?) { (state, nil) }
    func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        .unanswered("unasked")
    }
    func createChannel(_ storagePolicy: StoragePolicy, at address: APNsAddress) async -> APNsAnswer<String> {
        create(storagePolicy, address)
    }
    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        read(channelID, address)
    }
    func deleteChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<Void> {
        delete(channelID, address)
    }
    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> { list(address) }
}
