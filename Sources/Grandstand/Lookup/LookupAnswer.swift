internal import APNsWire
internal import FoundationEssentials
package import GrandstandContract
internal import JSON

/// A lookup's answer about one event in one app and environment.
package enum LookupAnswer: Sendable, Hashable {
    case found(LookupBody)
    /// The event exists, but its channel does not exist yet.
    case pending(ChannelWait)
    /// The event ended, at least for this audience, or was cancelled.
    ///
    /// - Parameter last: the event's last content, if the caller asked for it.
    case over(last: LastContent? = nil)
    /// The event exists, but none of the app's audiences in the event has the requested variant.
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
            self = .found(LookupBody(JSONWriter.text(Contract.Lookup(entry))))
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

extension Contract.Lookup {
    package init(_ entry: LookupEntry) {
        let hasChannel = entry.delivery == .channel
        self.init(
            eventKey: entry.eventKey.rawValue, channelId: hasChannel ? entry.channelID : nil,
            // Only audiences that are reached by tokens have `delivery`. Older apps do not know this member, but they
            // look up only events with a channel.
            delivery: hasChannel ? nil : .init(entry.delivery), variant: entry.variant?.rawValue,
            variants: entry.variants.isEmpty ? nil : entry.variants.map(\.rawValue),
            storagePolicy: .init(entry.storagePolicy), state: .init(entry.state), startsAt: entry.startsAt,
            endsAt: entry.endsAt, contentState: entry.contentState.map(RawJSON.init(unchecked:)),
            timestamp: entry.timestamp)
    }
}
