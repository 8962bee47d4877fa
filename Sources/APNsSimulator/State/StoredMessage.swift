internal import APNsWire
package import FoundationEssentials

/// The stored message of a channel with `mostRecentMessageStored`, for devices that are offline.
package struct StoredMessage: Sendable, Hashable {
    /// The whole JSON body, byte for byte.
    package var body: [UInt8]
    /// The time on the simulator's clock.
    package var storedAt: Date
    /// When APNs deletes the message: at its `apns-expiration`, but at most 8 hours after `storedAt`.
    package var expiresAt: Date
    /// Apple's `apns-unique-id`.
    package var uniqueID: String

    /// - Parameter expiration: the `apns-expiration` header, seconds since 1970.
    /// - Returns: `nil` if nothing is stored: 0 means one attempt only, and a time in the past has already expired. If
    ///   a channel already has a stored message, Apple does not document what then happens to it; in the simulator it
    ///   stays.
    init?(body: [UInt8], expiration: Int, now: Date, uniqueID: String) {
        let latest = now.addingTimeInterval(Double(APNsLimits.storedMessageLifetime))
        let expiresAt = min(Date(timeIntervalSince1970: Double(expiration)), latest)
        guard expiration != 0, expiresAt > now else { return nil }
        self.body = body
        self.storedAt = now
        self.expiresAt = expiresAt
        self.uniqueID = uniqueID
    }
}
