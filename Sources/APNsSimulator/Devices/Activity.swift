internal import APNsWire
internal import JSON

/// A Live Activity on one device, as a person sees it and the control API shows it. Times are in seconds since 1970.
package struct Activity: Sendable, Hashable, Encodable, CustomStringConvertible {
    /// The state of an activity.
    package enum State: String, Sendable, Encodable {
        case active
        /// Its stale date has passed.
        case stale
        /// The activity is over, but still visible.
        case ended
        /// The activity is no longer on the lock screen.
        case dismissed
    }

    /// Why a push had no effect.
    enum DropReason: String, Sendable, Error {
        case outOfDate = "its timestamp is older than what is shown"
        case tie = "its timestamp is the same as that of the content shown now"
        case tooFarAhead = "its timestamp is more than 8 hours ahead"
        case tooLarge = "attributes and state are more than 4 KB"
        case ended = "the activity has ended"
    }

    /// 1 for the device's first activity.
    package internal(set) var number = 0
    /// The bundle ID in lower case.
    package internal(set) var bundleID: String
    /// The Swift type of the activity's attributes.
    package let attributesType: String
    /// The state when the activity was shown (`snapshot(at:)`).
    package internal(set) var state = State.active
    /// JSON, byte for byte as received.
    package internal(set) var contentState = JSONBytes()
    var attributes = JSONBytes()
    /// The timestamp of the newest applied push, in seconds since 1970.
    package internal(set) var timestamp = 0
    /// The newest alert as JSON; `nil`: there was none.
    package internal(set) var alert: JSONBytes?
    /// The channel that the activity listens to.
    var channelID: String?
    /// The activity's own push token in hex; `nil`: it has no own token.
    package internal(set) var updateToken: String?
    var relevance: Double?
    var startedAt = 0.0
    var staleDate: Double?
    var endedAt: Double?
    var dismissalDate: Double?
    /// The number of applied pushes, including the start.
    var applied = 1
    var wasSwiped = false

    private enum CodingKeys: String, CodingKey {
        case number
        case bundleID = "bundleId"
        case attributesType, state, contentState, attributes, timestamp, alert
        case channelID = "channelId"
        case updateToken
        case relevance = "relevanceScore"
        case startedAt, staleDate, endedAt, dismissalDate, applied
    }

    /// Whether ActivityKit accepts these attributes and this content state: at most 4 KB together, although a broadcast
    /// may be larger (docs/internals/apns.md C5).
    static func fits(_ attributes: JSONBytes, _ contentState: JSONBytes) -> Bool {
        attributes.bytes.count + contentState.bytes.count <= APNsLimits.activityData
    }

    /// The state at a time. An activity is active for at most 8 hours and visible for 4 more (docs/internals/apns.md
    /// section 4).
    func state(at now: Double) -> State {
        if wasSwiped { return .dismissed }
        let limit = startedAt + Double(APNsLimits.activityLifetime)
        let end = min(endedAt ?? limit, limit)
        guard now >= end else { return staleDate.map { $0 <= now } ?? false ? .stale : .active }
        let latest = end + Double(APNsLimits.endedActivityLifetime)
        return now >= min(dismissalDate ?? latest, latest) ? .dismissed : .ended
    }

    /// The activity with its state at a time.
    func snapshot(at now: Double) -> Self {
        var activity = self
        activity.state = state(at: now)
        return activity
    }

    /// One line for people.
    package var description: String {
        "\(bundleID) \(attributesType) #\(number) \(state.rawValue) \(contentState.text.replacing("\n", with: " "))"
    }

    /// Applies an update or an end. An update with an older timestamp than the content has no effect. An end with an
    /// older timestamp ends the activity, but does not change the content.
    ///
    /// - Throws: the reason if the push has no effect.
    mutating func apply(_ push: LivePush, now: Double) throws(DropReason) {
        switch state(at: now) {
        case .ended, .dismissed: throw .ended
        case .active, .stale: break
        }
        if Double(push.timestamp) > now + Double(APNsLimits.activityLifetime) { throw .tooFarAhead }
        if push.event == .update {
            if push.timestamp < timestamp { throw .outOfDate }
            if push.timestamp == timestamp { throw .tie }
        }
        if !Self.fits(attributes, push.contentState ?? contentState) { throw .tooLarge }
        if push.timestamp >= timestamp { contentState = push.contentState ?? contentState }
        timestamp = max(timestamp, push.timestamp)
        alert = push.alert ?? alert
        staleDate = push.staleDate
        relevance = push.relevance ?? relevance
        applied += 1
        if push.event == .end {
            endedAt = now
            dismissalDate = push.dismissalDate
        }
    }
}

extension Activity {
    /// The activity that a push starts.
    init(_ push: LivePush, of bundleID: String) {
        self.init(
            bundleID: bundleID, attributesType: push.attributesType ?? "",
            contentState: push.contentState ?? JSONBytes([]), attributes: push.attributes ?? JSONBytes([]),
            timestamp: push.timestamp, alert: push.alert, channelID: push.inputPushChannel, relevance: push.relevance,
            staleDate: push.staleDate)
    }
}

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
