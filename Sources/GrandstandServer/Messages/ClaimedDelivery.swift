internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// The head of a leased lane, ready to be sent: one complete request to `/4/broadcasts/apps/…`, and what its answer is
/// judged by. A repetition sends exactly the same bytes.
package struct ClaimedDelivery: Sendable, Hashable {
    var id: Int
    var lane: Int
    var address: APNsAddress
    var channelID: String
    /// The whole JSON body.
    var body: [UInt8]
    var priority: APNsPriority
    /// The value of `apns-expiration`.
    var expiration: Int
    var requestID: UUID
    /// The number of requests to Apple for this message, including the next one.
    var attempts: Int
    var expiresAt: Date
    /// When the message was accepted, or its `sendAt`; `nil`: not known.
    var askedAt: Date?

    /// Whether the delivery's deadline, or the time in its `apns-expiration` header, has passed. A request with a past
    /// time in the header is never made.
    func isExpired(at now: Date) -> Bool {
        expiresAt <= now || expiration != 0 && Double(expiration) <= now.timeIntervalSince1970
    }
}
