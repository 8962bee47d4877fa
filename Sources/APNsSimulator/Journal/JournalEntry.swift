package import APNsWire
internal import JSON

/// One request with its answer.
package struct JournalEntry: Sendable, Hashable {
    /// Whether the answer reached the client.
    package enum Fate: String, ControlWord {
        case answered
        /// The answer was withheld for a while (the fault `delay`).
        case held
        /// The request was processed, but never answered (the fault `lose`).
        case dropped
        /// The request was neither processed nor answered: a fault ended the request before it was processed.
        case unprocessed
    }

    /// 1 for the first request since the start. It keeps growing when the journal is cleared.
    package internal(set) var number = 0
    /// Seconds since 1970 on the simulator's clock.
    package let time: Double
    /// The request as received, including its token.
    package let request: SimulatorRequest
    /// The route; `nil` if APNs has no such path or method.
    package let operation: Route.Operation?
    /// The status of the answer; 0: there was none.
    package let status: Int
    /// Why the request was refused; `nil` when it was accepted.
    package let reason: APNsReason?
    /// The `apns-request-id` or `apns-id` of the answer; empty when there was none.
    package let requestID: String
    /// Whether the answer was sent.
    package let fate: Fate
    /// The name of the fault that acted on the request; `nil`: none.
    package let fault: String?

    /// About how many bytes it takes in memory. Most headers have a buffer for their value.
    var size: Int {
        request.headers.reduce(512 + request.path.utf8.count + request.body.count) {
            $0 + 96 + $1.name.utf8.count + $1.value.utf8.count
        }
    }
}

/// The entry in the control API.
extension JournalEntry: Encodable, WritesNulls {
    /// No member is left out.
    package static let leftOut: [String] = []

    private enum CodingKeys: String, CodingKey {
        case number, time, environment, host, connection, method, path, operation, headers, body, bodyIsCut, status,
            reason, requestId, fate, fault
    }

    package func encode(to encoder: any Encoder) throws {
        var to = encoder.container(keyedBy: CodingKeys.self)
        try to.encode(number, forKey: .number)
        try to.encode(time, forKey: .time)
        try to.encode(request.environment, forKey: .environment)
        try to.encode(request.service, forKey: .host)
        try to.encode(request.connection, forKey: .connection)
        try to.encode(request.method, forKey: .method)
        try to.encode(request.path, forKey: .path)
        try to.encodeIfPresent(operation, forKey: .operation)
        try to.encode(request.headers, forKey: .headers)
        try to.encode(String(decoding: request.body, as: UTF8.self), forKey: .body)
        try to.encode(request.bodyIsCut, forKey: .bodyIsCut)
        try to.encode(status, forKey: .status)
        try to.encodeIfPresent(reason?.rawValue, forKey: .reason)
        try to.encode(requestID, forKey: .requestId)
        try to.encode(fate, forKey: .fate)
        try to.encodeIfPresent(fault, forKey: .fault)
    }
}
