internal import APNsWire

/// A check that failed: carries the reason out of the checks to the one place that makes it an answer.
struct Refusal: Error, Hashable {
    var reason: APNsReason
    /// Milliseconds since 1970: since when a device token is no good (410 only).
    var timestamp: Int?
    /// Seconds, for `Retry-After`.
    var retryAfter: Int?

    init(_ reason: APNsReason, timestamp: Int? = nil, retryAfter: Int? = nil) {
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }
}
