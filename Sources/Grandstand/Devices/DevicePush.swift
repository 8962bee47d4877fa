package import APNsWire
package import FoundationEssentials

/// One complete request to `/3/device/…`. A repetition sends exactly the same bytes.
package struct DevicePush: Sendable, Hashable {
    package var token: DeviceToken
    /// The whole JSON body.
    package var body: [UInt8]
    package var priority: APNsPriority
    /// The value of `apns-expiration`.
    package var expiration: Int
    /// The value of `apns-id`.
    package var requestID: UUID
    /// The value of `apns-collapse-id`: for a phone that is offline, APNs keeps one push of each such ID. `nil`: there
    /// is no such header.
    package var collapseID: String?

    package init(
        token: DeviceToken, body: [UInt8], priority: APNsPriority, expiration: Int, requestID: UUID,
        collapseID: String? = nil
    ) {
        self.token = token
        self.body = body
        self.priority = priority
        self.expiration = expiration
        self.requestID = requestID
        self.collapseID = collapseID
    }
}
