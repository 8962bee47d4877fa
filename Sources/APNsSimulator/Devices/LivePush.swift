internal import FoundationEssentials
internal import JSON

/// The parts of a push's body that a device reads (docs/internals/apns.md section 4). Errors in other parts are
/// ignored.
struct LivePush: Sendable {
    enum Event: String {
        case start, update, end
    }

    var event: Event
    /// Seconds since 1970.
    var timestamp: Int
    /// JSON as received.
    var contentState: [UInt8]?
    var attributesType: String?
    var attributes: [UInt8]?
    /// JSON as received.
    var alert: [UInt8]?
    var staleDate: Date?
    var dismissalDate: Date?
    var relevance: Double?
    /// The channel that an activity started by this push listens to.
    var inputPushChannel: String?
    /// Whether an activity started by this push gets its own push token.
    var asksForToken: Bool

    /// Returns `nil` for a body that a device drops: not JSON, no event, or no whole number as timestamp.
    init?(_ body: [UInt8]) {
        guard let aps = JSONObject(body)?.aps, case .string(let name)? = aps["event"],
            let event = Event(rawValue: name), let timestamp = aps["timestamp"]?.integer
        else { return nil }
        func text(_ name: String) -> [UInt8]? {
            if case .object(let range)? = aps[name] { Array(body[range]) } else { nil }
        }
        // A JSON number may be infinite as a Double, and could then not be written as JSON again.
        func number(_ name: String) -> Double? {
            guard case .number(let text)? = aps[name], let number = Double(text), number.isFinite else { return nil }
            return number
        }
        func date(_ name: String) -> Date? { number(name).map { Date(timeIntervalSince1970: $0) } }
        func string(_ name: String) -> String? {
            if case .string(let text)? = aps[name] { text } else { nil }
        }
        self.event = event
        self.timestamp = timestamp
        contentState = text("content-state")
        attributesType = string("attributes-type")
        attributes = text("attributes")
        alert = text("alert") ?? string("alert").map { Array($0.quotedJSON.utf8) }
        staleDate = date("stale-date")
        dismissalDate = date("dismissal-date")
        relevance = number("relevance-score")
        inputPushChannel = string("input-push-channel")
        asksForToken = aps["input-push-token"]?.integer == 1
    }
}
