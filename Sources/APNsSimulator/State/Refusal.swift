internal import APNsWire

/// The failure of a check. `SimulatorState.handle` turns it into an answer.
struct Refusal: Error, Hashable {
    var reason: APNsReason
    /// Milliseconds since 1970: the time since which a device token is invalid (only with 410).
    var timestamp: Int?
    /// Seconds, for `Retry-After`.
    var retryAfter: Int?

    init(_ reason: APNsReason, timestamp: Int? = nil, retryAfter: Int? = nil) {
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }
}
