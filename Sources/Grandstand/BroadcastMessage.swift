package import APNsWire
package import FoundationEssentials

/// One complete request to `/4/broadcasts/apps/…`. A repetition sends exactly the same bytes.
package struct BroadcastMessage: Sendable, Hashable {
    package var channelID: String
    /// The whole JSON body.
    package var body: [UInt8]
    package var priority: APNsPriority
    /// The value of `apns-expiration`.
    package var expiration: Int
    package var requestID: UUID

    package init(channelID: String, body: [UInt8], priority: APNsPriority, expiration: Int, requestID: UUID) {
        self.channelID = channelID
        self.body = body
        self.priority = priority
        self.expiration = expiration
        self.requestID = requestID
    }
}
