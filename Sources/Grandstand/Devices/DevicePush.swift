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

    package init(token: DeviceToken, body: [UInt8], priority: APNsPriority, expiration: Int, requestID: UUID) {
        self.token = token
        self.body = body
        self.priority = priority
        self.expiration = expiration
        self.requestID = requestID
    }
}
