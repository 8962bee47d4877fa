package import APNsWire
internal import JSON

/// The simulator's answer to a request.
package struct SimulatorAnswer: Sendable, Hashable {
    /// The HTTP status.
    package var status: Int
    /// Names are in lower case. `apns-request-id`, or `apns-id` on a device's path, is always included.
    package var headers: [SimulatorRequest.Header] = []
    /// Empty, or JSON.
    package var body: [UInt8] = []
    /// Why the request was refused; `nil` when it was accepted.
    package var reason: APNsReason?
    /// Whether the request had a valid token. After such a request the connection may have many streams
    /// (docs/internals/apns.md section 6).
    package var tokenAccepted = false
    /// The route; `nil` if APNs has no such path or method.
    package internal(set) var operation: Route.Operation?
    /// The effect on the connection.
    var effects: [ConnectionEffect] = []

    /// A refusal in APNs' form: `{"reason":"…"}` with the reason's documented status.
    ///
    /// - Parameters:
    ///   - spelling: the reason's text on the wire.
    ///   - status: another status than the documented one. A reason that `APNsReason.table` does not have gets 400 by
    ///     default.
    ///   - timestamp: milliseconds since 1970, for 410 (docs/internals/apns.md 3.3).
    static func refusal(
        _ reason: APNsReason, spelled spelling: String, status: Int? = nil, timestamp: Int? = nil
    ) -> Self {
        let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return Self(
            status: status ?? reason.status ?? 400, headers: [.init(APNsHeader.contentType, "application/json")],
            body: Array("{\"reason\":\(spelling.quotedJSON)\(time)}".utf8), reason: reason)
    }

    /// The value of the first header with this name. `name` must be in lower case.
    package subscript(header name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}
