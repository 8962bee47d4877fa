internal import APNsWire
package import FoundationEssentials

/// A lookup's answer about one event in one app and environment.
package enum LookupAnswer: Sendable, Hashable {
    case found(LookupBody)
    /// The event is known, its channel is not there yet.
    ///
    /// - Parameter opensAt: when it is to be made; `nil`: at once.
    case pending(opensAt: Date?)
    /// Ended, for this audience at least, or cancelled.
    case over

    /// The answer that an entry gives.
    package init(_ entry: LookupEntry) {
        if entry.state.isOver {
            self = .over
        } else if entry.channelID == nil, entry.delivery == .channel {
            self = .pending(opensAt: entry.opensAt)
        } else {
            self = .found(LookupBody(JSONWriter.text(entry)))
        }
    }
}

extension LookupAnswer {
    /// Seconds after which it is worth asking again for a channel that is not there yet: a channel is made within two, and an
    /// opening may be moved, so nobody is sent away for more than an hour.
    package static func patience(until opensAt: Date?, now: Date) -> Int {
        let left = opensAt.map { $0.timeIntervalSince(now).rounded(.up) } ?? 0
        return Int(min(max(left, 2), 3_600))
    }
}

extension LookupEntry: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("eventKey", eventKey.rawValue)
        object.member("channelId", delivery == .channel ? channelID : nil)
        // Apps of before know no other delivery, and look up none of its events.
        if delivery != .channel { object.member("delivery", delivery.rawValue) }
        if let variant { object.member("variant", variant.rawValue) }
        object.member("storagePolicy", storagePolicy.rawValue)
        object.member("state", state.rawValue)
        object.member("startsAt", startsAt)
        object.member("endsAt", endsAt)
        if let contentState { object.member("contentState", raw: contentState) }
        if let timestamp { object.member("timestamp", timestamp) }
    }
}
