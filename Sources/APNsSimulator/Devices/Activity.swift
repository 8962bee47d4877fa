internal import APNsWire
internal import FoundationEssentials

/// A Live Activity on one device.
struct Activity: Sendable, Hashable {
    enum State: String, Sendable {
        case active
        /// Its stale date has passed.
        case stale
        /// The activity is over, but still visible.
        case ended
        /// The activity is no longer on the lock screen.
        case dismissed
    }

    /// Why a push had no effect.
    enum Drop: String, Sendable, Error {
        case outOfDate = "its timestamp is older than what is shown"
        case tie = "its timestamp is the same as that of the content shown now"
        case tooFarAhead = "its timestamp is more than 8 hours ahead"
        case tooLarge = "attributes and state are more than 4 KB"
        case ended = "the activity has ended"
    }

    /// 1 for the device's first activity.
    let number: Int
    /// The bundle ID in lower case.
    let app: String
    let attributesType: String
    /// JSON.
    let attributes: [UInt8]
    let startedAt: Date
    /// The channel that the activity listens to.
    let channelID: String?
    /// The activity's own push token in hex.
    var updateToken: String?
    /// JSON as received.
    var contentState: [UInt8]
    /// The timestamp of the newest applied push.
    var timestamp: Int
    /// The newest alert: JSON as received.
    var alert: [UInt8]?
    var staleDate: Date?
    var relevance: Double?
    var endedAt: Date?
    var dismissalDate: Date?
    var isRemoved = false
    /// The number of applied pushes, including the start.
    var applied = 1

    /// Whether ActivityKit accepts these attributes and this content state: at most 4 KB together, although a broadcast
    /// may be larger (docs/internals/apns.md C5).
    static func fits(_ attributes: [UInt8], _ contentState: [UInt8]) -> Bool {
        attributes.count + contentState.count <= APNsLimits.activityData
    }

    /// The state at a time. An activity is active for at most 8 hours and visible for 4 more (docs/internals/apns.md
    /// section 4).
    func state(at now: Date) -> State {
        if isRemoved { return .dismissed }
        let limit = startedAt.addingTimeInterval(Double(APNsLimits.activityLifetime))
        let end = min(endedAt ?? limit, limit)
        guard now >= end else {
            if let staleDate, staleDate <= now { return .stale }
            return .active
        }
        let latest = end.addingTimeInterval(Double(APNsLimits.endedActivityLifetime))
        return now >= min(dismissalDate ?? latest, latest) ? .dismissed : .ended
    }

    /// Applies an update or an end. An update with an older timestamp than the content has no effect. An end with an
    /// older timestamp ends the activity, but does not change the content.
    ///
    /// - Throws: the reason if the push has no effect.
    mutating func apply(_ push: LivePush, now: Date) throws(Drop) {
        switch state(at: now) {
        case .ended, .dismissed: throw .ended
        case .active, .stale: break
        }
        if Double(push.timestamp) > now.timeIntervalSince1970 + Double(APNsLimits.activityLifetime) {
            throw .tooFarAhead
        }
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
