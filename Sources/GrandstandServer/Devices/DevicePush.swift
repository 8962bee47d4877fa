internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// One complete request to `/3/device/…`. A repetition sends exactly the same bytes.
package struct DevicePush: Sendable, Hashable {
    var token: DeviceToken
    /// The whole JSON body.
    var body: [UInt8]
    var priority: APNsPriority
    /// The value of `apns-expiration`.
    var expiration: Int
    /// The value of `apns-id`.
    var requestID: UUID
    /// The value of `apns-collapse-id`: for a phone that is offline, APNs keeps one push of each such ID. `nil`: there
    /// is no such header.
    var collapseID: String?
}
