internal import APNsWire
internal import FoundationEssentials
package import JSON

/// A lookup's answer about one event in one app and environment.
package enum LookupAnswer: Sendable, Hashable {
    case found(LookupBody)
    /// The event exists, but its channel does not exist yet.
    case pending(ChannelWait)
    /// The event ended, at least for this audience, or was cancelled.
    ///
    /// - Parameter last: its last content, if the caller asked for it.
    case over(last: LastContent? = nil)
    /// The event exists, but the app has no audience with this variant in it.
    ///
    /// - Parameter variants: the variants of the app's audiences, in the order of their declaration; `nil`: an audience
    ///   without a variant.
    case noSuchVariant(among: [Variant?])

    /// The answer for an entry.
    package init(_ entry: LookupEntry) {
        if entry.state.isOver {
            self = .over(last: entry.contentState.map { LastContent(contentState: $0, timestamp: entry.timestamp) })
        } else if entry.channelID == nil, entry.delivery == .channel {
            self = .pending(entry.wait)
        } else {
            self = .found(LookupBody(JSONWriter.text(entry)))
        }
    }
}

/// The last content of an event.
package struct LastContent: Sendable, Hashable {
    /// JSON object text.
    package var contentState: [UInt8]
    /// `aps.timestamp` of its message.
    package var timestamp: Int?

    package init(contentState: [UInt8], timestamp: Int? = nil) {
        self.contentState = contentState
        self.timestamp = timestamp
    }
}

extension LookupEntry: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("eventKey", eventKey.rawValue)
        object.member("channelId", delivery == .channel ? channelID : nil)
        // Older apps know only `channel`, and look up no other events.
        if delivery != .channel { object.member("delivery", delivery.rawValue) }
        if let variant { object.member("variant", variant.rawValue) }
        if !variants.isEmpty { object.array("variants", variants) { $0.string($1.rawValue) } }
        object.member("storagePolicy", storagePolicy.rawValue)
        object.member("state", state.rawValue)
        object.member("startsAt", startsAt)
        object.member("endsAt", endsAt)
        if let contentState { object.member("contentState", raw: contentState) }
        if let timestamp { object.member("timestamp", timestamp) }
    }
}
