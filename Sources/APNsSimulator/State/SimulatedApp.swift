package import APNsWire
internal import JSON

/// The channels of one app in one environment.
struct SimulatedApp: Sendable {
    private(set) var channels: [String: SimulatedChannel] = [:]
    private(set) var deleted: Set<String> = []
    private var lastNumber = 0

    /// The channels in the order of their creation. Apple documents no order.
    var sorted: [SimulatedChannel] { channels.values.sorted { $0.number < $1.number } }

    mutating func add(_ id: String, _ policy: StoragePolicy, now: Double) {
        lastNumber += 1
        channels[id] = SimulatedChannel(id: id, storagePolicy: policy, createdAt: now, number: lastNumber)
    }

    /// - Returns: whether the channel existed.
    mutating func delete(_ id: String) -> Bool {
        guard channels.removeValue(forKey: id) != nil else { return false }
        deleted.insert(id)
        return true
    }

    /// Records an accepted broadcast. `message` is `nil` if it is not stored.
    mutating func addBroadcast(on id: String, storing message: StoredMessage?) {
        channels[id]?.broadcasts += 1
        if let message { channels[id]?.stored = message }
    }
}

/// A channel as the simulator keeps it, and as the control API shows it.
package struct SimulatedChannel: Sendable, Hashable, Encodable, WritesNulls {
    /// The channel ID, as issued.
    package let id: String
    /// Set at creation; it never changes.
    package let storagePolicy: StoragePolicy
    /// Seconds since 1970 on the simulator's clock.
    let createdAt: Double
    /// The number of accepted broadcasts.
    package internal(set) var broadcasts = 0
    /// The newest stored message. It may have expired: `snapshot(at:)` leaves such a message out.
    package internal(set) var stored: StoredMessage?
    /// Grows from channel to channel; lists are sorted by it.
    let number: Int

    private enum CodingKeys: String, CodingKey {
        case id = "channelId"
        case storagePolicy, createdAt, broadcasts
        case stored = "storedMessage"
    }

    /// No member is left out.
    package static let leftOut: [String] = []

    func snapshot(at now: Double) -> Self {
        var channel = self
        if let stored, stored.expiresAt <= now { channel.stored = nil }
        return channel
    }
}

/// The stored message of a channel with `mostRecentMessageStored`, for devices that are offline.
package struct StoredMessage: Sendable, Hashable, Encodable {
    /// The whole JSON body.
    package var body: String
    /// Seconds since 1970 on the simulator's clock.
    var storedAt: Double
    /// When APNs deletes the message: at its `apns-expiration`, but at most 8 hours after `storedAt`.
    var expiresAt: Double
    /// Apple's `apns-unique-id`.
    package var uniqueID: String

    private enum CodingKeys: String, CodingKey {
        case body, storedAt, expiresAt
        case uniqueID = "uniqueId"
    }

    /// - Parameter expiration: the `apns-expiration` header, seconds since 1970.
    /// - Returns: `nil` if nothing is stored: 0 means one attempt only, and a time in the past has already expired. If
    ///   a channel already has a stored message, Apple does not document what then happens to it; in the simulator it
    ///   stays.
    init?(body: [UInt8], expiration: Int, now: Double, uniqueID: String) {
        expiresAt = min(Double(expiration), now + Double(APNsLimits.storedMessageLifetime))
        guard expiration != 0, expiresAt > now else { return nil }
        self.body = String(decoding: body, as: UTF8.self)
        storedAt = now
        self.uniqueID = uniqueID
    }
}
