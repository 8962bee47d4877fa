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
    var contentState: JSONBytes?
    var attributesType: String?
    var attributes: JSONBytes?
    var alert: JSONBytes?
    var staleDate: Double?
    var dismissalDate: Double?
    var relevance: Double?
    /// The channel that an activity started by this push listens to.
    var inputPushChannel: String?
    /// Whether an activity started by this push gets its own push token.
    var asksForToken: Bool

    /// Returns `nil` for a body that a device drops: not JSON, no event, or no whole number as timestamp.
    init?(_ body: [UInt8]) {
        guard let aps = JSONValue.aps(body), let event = aps["event"]?.string.flatMap(Event.init(rawValue:)),
            let timestamp = aps["timestamp"]?.integer
        else { return nil }
        self.event = event
        self.timestamp = timestamp
        contentState = aps["content-state"]?.object
        attributesType = aps["attributes-type"]?.string
        attributes = aps["attributes"]?.object
        alert = aps["alert"]?.object ?? aps["alert"]?.string.map { JSONBytes(Array($0.quotedJSON.utf8)) }
        staleDate = aps["stale-date"]?.finite
        dismissalDate = aps["dismissal-date"]?.finite
        relevance = aps["relevance-score"]?.finite
        inputPushChannel = aps["input-push-channel"]?.string
        asksForToken = aps["input-push-token"]?.integer == 1
    }
}
