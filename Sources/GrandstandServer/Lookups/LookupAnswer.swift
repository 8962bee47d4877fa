internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The subject of a lookup: an event, in an app and environment, in one of its variants.
struct LookupName: Sendable, Hashable {
    /// The lowercased bundle ID.
    let topic: String
    let environment: APNsEnvironment
    let key: EventKey
    /// `nil`: the audience without a variant, else the first that is not over.
    var variant: Variant?
}

/// A lookup's answer about one event in one app and environment.
enum LookupAnswer: Sendable, Hashable {
    case found(LookupBody)
    /// The event exists, but its channel does not exist yet.
    case pending(ChannelWait)
    /// The event ended, at least for this audience, or was cancelled.
    ///
    /// - Parameters:
    ///   - contentState: the event's last content, if the caller asked for it.
    ///   - timestamp: `aps.timestamp` of the message with this content.
    case over(contentState: RawJSON? = nil, timestamp: Int? = nil)
    /// The event exists, but none of the app's audiences in the event has the requested variant.
    ///
    /// - Parameter variants: the variants of the app's audiences, in the order of their declaration; `nil`: an audience
    ///   without a variant.
    case noSuchVariant(among: [Variant?])

    /// The answer for an audience.
    ///
    /// - Parameter wait: why the audience has no channel yet.
    init(_ lookup: Contract.Lookup, _ wait: ChannelWait) {
        switch lookup.state {
        case .ended, .cancelled: self = .over(contentState: lookup.contentState, timestamp: lookup.timestamp)
        case .scheduled, .live, .unknown:
            let hasChannel = lookup.channelId != nil || lookup.delivery != nil
            self = hasChannel ? .found(LookupBody(JSONWriter.text(lookup))) : .pending(wait)
        }
    }
}

/// The JSON text of an answer, with its entity tag.
struct LookupBody: Sendable, Hashable {
    let bytes: [UInt8]
    let tag: EntityTag

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = EntityTag(of: bytes)
    }
}
