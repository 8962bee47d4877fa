package import APNsWire
package import FoundationEssentials

/// The head of a leased lane, ready to be sent: one complete request to `/4/broadcasts/apps/…`, and what its answer is
/// judged by. A repetition sends exactly the same bytes.
package struct ClaimedDelivery: Sendable, Hashable {
    package var id: Int
    package var lane: Int
    package var address: APNsAddress
    package var channelID: String
    /// The whole JSON body.
    package var body: [UInt8]
    package var priority: APNsPriority
    /// The value of `apns-expiration`.
    package var expiration: Int
    package var requestID: UUID
    /// The number of requests to Apple for this message, including the next one.
    package var attempts: Int
    package var expiresAt: Date
    /// When the message was accepted, or its `sendAt`; `nil`: not known.
    package var askedAt: Date?

    package init(
        id: Int, lane: Int, address: APNsAddress, channelID: String, body: [UInt8], priority: APNsPriority,
        expiration: Int, requestID: UUID, attempts: Int, expiresAt: Date, askedAt: Date? = nil
    ) {
        self.id = id
        self.lane = lane
        self.address = address
        self.channelID = channelID
        self.body = body
        self.priority = priority
        self.expiration = expiration
        self.requestID = requestID
        self.attempts = attempts
        self.expiresAt = expiresAt
        self.askedAt = askedAt
    }

    /// Whether the delivery's deadline, or the time in its `apns-expiration` header, has passed. A request with a past
    /// time in the header is never made.
    package func isExpired(at now: Date) -> Bool {
        expiresAt <= now || expiration != 0 && Double(expiration) <= now.timeIntervalSince1970
    }
}
