/// Whether APNs keeps a channel's newest message for devices that are offline. Chosen at creation, immutable.
package enum StoragePolicy: String, Sendable, Hashable, CaseIterable {
    /// Apple's 0: one delivery attempt, nothing kept; the higher publishing budget. For frequent updates.
    case noMessageStored
    /// Apple's 1: the newest message is kept until its `apns-expiration`, 8 hours at most.
    case mostRecentMessageStored

    /// The number Apple's JSON carries as `message-storage-policy`.
    package var wireValue: Int {
        switch self {
        case .noMessageStored: 0
        case .mostRecentMessageStored: 1
        }
    }

    /// Reads Apple's number; `nil` for one it does not document.
    package init?(wireValue: Int) {
        switch wireValue {
        case 0: self = .noMessageStored
        case 1: self = .mostRecentMessageStored
        default: return nil
        }
    }
}
