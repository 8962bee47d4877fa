/// Whether APNs stores a channel's newest message for devices that are offline. The policy is set when the channel is
/// created, and never changes.
package enum StoragePolicy: String, Decodable, Sendable, Hashable, CaseIterable {
    /// Apple's 0: one delivery attempt, and nothing is stored. A channel with this policy has the higher publishing
    /// budget, so use it for frequent updates.
    case noMessageStored
    /// Apple's 1: the newest message is stored until its `apns-expiration`, at most 8 hours.
    case mostRecentMessageStored

    /// Whether APNs stores the newest message for devices that are offline.
    package var stores: Bool { self == .mostRecentMessageStored }

    /// The number in Apple's JSON, `message-storage-policy`.
    package var wireValue: Int { stores ? 1 : 0 }
}
