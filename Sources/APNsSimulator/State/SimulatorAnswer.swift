internal import APNsWire
internal import JSON

/// The simulator's answer to a request.
struct SimulatorAnswer: Sendable, Hashable {
    /// The HTTP status.
    var status: Int
    /// Names are in lower case. `apns-request-id`, or `apns-id` on a device's path, is always included.
    var headers: [SimulatorRequest.Header] = []
    /// Empty, or JSON.
    var body: [UInt8] = []
    /// Why the request was refused; `nil` when it was accepted.
    var reason: APNsReason?
    /// Whether the request had a valid token. After such a request the connection may have many streams
    /// (docs/internals/apns.md section 6).
    var tokenAccepted = false
    /// The route; `nil` if APNs has no such path or method.
    var operation: Route.Operation?
    /// The new value of SETTINGS_MAX_CONCURRENT_STREAMS of the connection; `nil`: it stays.
    var maximumStreams: Int?
    /// Whether the connection ends with GOAWAY and `reason`, after all requests that have arrived were answered.
    var endsConnection = false

    /// An answer with JSON.
    static func json(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: [.init(APNsHeader.contentType, "application/json")], body: Array(text.utf8))
    }

    /// A refusal in APNs' form: `{"reason":"…"}` with the reason's documented status.
    ///
    /// - Parameters:
    ///   - spelling: the reason's text on the wire.
    ///   - status: another status than the documented one. A reason that `APNsReason.table` does not have gets 400 by
    ///     default.
    static func refusal(_ refusal: Refusal, spelled spelling: String, status: Int? = nil) -> Self {
        let time = refusal.timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        var answer = json(
            "{\"reason\":\(spelling.quotedJSON)\(time)}", status: status ?? refusal.reason.status ?? 400)
        answer.reason = refusal.reason
        if let seconds = refusal.retryAfter { answer.headers.append(.init(APNsHeader.retryAfter, String(seconds))) }
        return answer
    }

    /// The value of the first header with this name. `name` must be in lower case.
    subscript(header name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// The failure of a check. `SimulatorState.handle` turns it into an answer.
struct Refusal: Error, Hashable {
    var reason: APNsReason
    /// Milliseconds since 1970: the time since which a device token is invalid (only with 410; docs/internals/apns.md
    /// 3.3).
    var timestamp: Int?
    /// Seconds, for `Retry-After`.
    var retryAfter: Int?

    init(_ reason: APNsReason, timestamp: Int? = nil, retryAfter: Int? = nil) {
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }
}
