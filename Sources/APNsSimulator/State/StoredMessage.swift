internal import APNsWire
package import FoundationEssentials

/// The message a channel with `mostRecentMessageStored` keeps for devices that are offline.
package struct StoredMessage: Sendable, Hashable {
    /// The whole JSON body, byte for byte.
    package var body: [UInt8]
    /// By the simulator's clock.
    package var storedAt: Date
    /// When APNs forgets it: its `apns-expiration`, 8 hours after `storedAt` at the latest.
    package var expiresAt: Date
    /// Apple's own name for it.
    package var uniqueID: String

    /// - Parameter expiration: the `apns-expiration` header, seconds since 1970.
    /// - Returns: `nil` when nothing is to be stored: 0 means one attempt only, and an instant gone by leaves nothing
    ///   to keep. What APNs does with the message stored before is undocumented; here it stays.
    init?(body: [UInt8], expiration: Int, now: Date, uniqueID: String) {
        let latest = now.addingTimeInterval(Double(APNsLimits.storedMessageLifetime))
        let expiresAt = min(Date(timeIntervalSince1970: Double(expiration)), latest)
        guard expiration != 0, expiresAt > now else { return nil }
        self.body = body
        self.storedAt = now
        self.expiresAt = expiresAt
        self.uniqueID = uniqueID
    }

    /// One that was stored before a restart.
    init(body: [UInt8], storedAt: Date, expiresAt: Date, uniqueID: String) {
        self.body = body
        self.storedAt = storedAt
        self.expiresAt = expiresAt
        self.uniqueID = uniqueID
    }
}
