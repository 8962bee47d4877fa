/// Apple's list of an app's channels, read whole.
package struct ChannelListing: Sendable, Hashable {
    /// The ID of each channel once, in Apple's order.
    package var channelIDs: [String]
    /// Members of the answer besides `channels`. Apple documents no such members, so they may mean that the list
    /// continues elsewhere (docs/internals/apns.md C9).
    package var otherMembers: [String]

    package init(channelIDs: [String], otherMembers: [String] = []) {
        self.channelIDs = channelIDs
        self.otherMembers = otherMembers
    }
}
