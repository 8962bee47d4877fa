/// Apple's list of an app's channels, read whole.
package struct ChannelListing: Sendable, Hashable {
    /// Each once, in Apple's order.
    package var channelIDs: [String]
    /// Members of the answer besides `channels`. No page of Apple's documents any, so they may mean that the list
    /// continues elsewhere (docs/internals/apns.md C9).
    package var otherMembers: [String]

    package init(channelIDs: [String], otherMembers: [String] = []) {
        self.channelIDs = channelIDs
        self.otherMembers = otherMembers
    }
}
