package import APNsWire
package import FoundationEssentials

/// A channel as the simulator keeps it.
package struct SimulatedChannel: Sendable, Hashable {
    /// The channel ID, as issued.
    package let id: String
    /// Chosen at creation, immutable.
    package let storagePolicy: StoragePolicy
    /// By the simulator's clock.
    package let createdAt: Date
    /// Broadcasts answered 200.
    package internal(set) var broadcasts = 0
    /// The newest message kept; it may have expired: ask `SimulatorState.storedMessage`.
    var stored: StoredMessage?
    /// Rises from channel to channel: the order they are listed in.
    let number: Int

    init(id: String, storagePolicy: StoragePolicy, createdAt: Date, number: Int) {
        self.id = id
        self.storagePolicy = storagePolicy
        self.createdAt = createdAt
        self.number = number
    }
}
