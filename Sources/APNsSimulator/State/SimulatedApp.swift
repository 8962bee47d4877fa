internal import APNsWire
internal import FoundationEssentials

/// The channels of one app in one environment.
struct SimulatedApp: Sendable {
    /// The most deleted IDs that are remembered. Older ones count as never issued.
    static let rememberedDeletions = 20_000

    private(set) var channels: [String: SimulatedChannel] = [:]
    private var deleted: Set<String> = []
    private var deletions = Ring<String>(capacity: rememberedDeletions)
    private var issued = 0

    var count: Int { channels.count }

    /// The channels in the order of their creation. Apple documents no order.
    var sorted: [SimulatedChannel] { channels.values.sorted { $0.number < $1.number } }

    func wasDeleted(_ id: String) -> Bool { deleted.contains(id) }

    mutating func add(_ id: String, _ policy: StoragePolicy, now: Date) {
        issued += 1
        channels[id] = SimulatedChannel(id: id, storagePolicy: policy, createdAt: now, number: issued)
    }

    /// - Returns: whether the channel existed.
    mutating func delete(_ id: String) -> Bool {
        guard channels.removeValue(forKey: id) != nil else { return false }
        deleted.insert(id)
        if let forgotten = deletions.append(id) { deleted.remove(forgotten) }
        return true
    }

    mutating func deleteAll() {
        for id in channels.keys { _ = delete(id) }
    }

    /// Records an accepted broadcast. `message` is `nil` if it is not stored.
    mutating func published(on id: String, storing message: StoredMessage?) {
        channels[id]?.broadcasts += 1
        if let message { channels[id]?.stored = message }
    }
}
