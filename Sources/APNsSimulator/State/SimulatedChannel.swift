package import APNsWire
package import FoundationEssentials

/// A channel as the simulator keeps it.
package struct SimulatedChannel: Sendable, Hashable {
    /// The channel ID, as issued.
    package let id: String
    /// Set at creation; it never changes.
    package let storagePolicy: StoragePolicy
    /// The time on the simulator's clock.
    package let createdAt: Date
    /// The number of accepted broadcasts.
    package internal(set) var broadcasts = 0
    /// The newest stored message. It may have expired, so use `SimulatorState.storedMessage`.
    var stored: StoredMessage?
    /// Grows from channel to channel; lists are sorted by it.
    let number: Int

    init(id: String, storagePolicy: StoragePolicy, createdAt: Date, number: Int) {
        self.id = id
        self.storagePolicy = storagePolicy
        self.createdAt = createdAt
        self.number = number
    }
}
