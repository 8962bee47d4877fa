package import APNsWire
internal import JSON

/// The simulator's answer to a request.
package struct SimulatorAnswer: Sendable, Hashable {
    /// The HTTP status.
    package var status: Int
    /// Lowercase names; `apns-request-id`, or `apns-id` on a device's path, is always among them.
    package var headers: [SimulatorRequest.Header]
    /// Empty, or JSON.
    package var body: [UInt8]
    /// Why it was refused; `nil` when it was accepted.
    package var reason: APNsReason?
    /// The request carried a token APNs accepts: from here on the connection may have many streams
    /// (docs/internals/apns.md section 6).
    package var tokenAccepted: Bool
    /// The route; `nil` when path or method were none of APNs'.
    package internal(set) var operation: Route.Operation?
    /// The effect on the connection.
    var effects: [ConnectionEffect] = []

    /// An answer in its parts; the request's id is added before it goes out.
    package init(
        status: Int, headers: [SimulatorRequest.Header] = [], body: [UInt8] = [], reason: APNsReason? = nil,
        tokenAccepted: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.reason = reason
        self.tokenAccepted = tokenAccepted
    }

    /// A refusal in APNs' form: `{"reason":"…"}` with the reason's documented status.
    ///
    /// - Parameter status: another status than the documented one; needed for reasons `APNsReason.table` lacks,
    ///   which are sent with 400 otherwise.
    package static func refusal(_ reason: APNsReason, status: Int? = nil) -> Self {
        refusal(reason, spelled: reason.rawValue, status: status)
    }

    /// - Parameters:
    ///   - spelling: the reason's text on the wire.
    ///   - timestamp: milliseconds since 1970, for 410 (docs/internals/apns.md 3.3).
    static func refusal(
        _ reason: APNsReason, spelled spelling: String, status: Int? = nil, timestamp: Int? = nil
    ) -> Self {
        let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return Self(
            status: status ?? reason.status ?? 400, headers: [.init(APNsHeader.contentType, "application/json")],
            body: Array("{\"reason\":\(spelling.quotedJSON)\(time)}".utf8), reason: reason)
    }

    /// The value of the first field of that (lowercase) name.
    package subscript(header name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}
