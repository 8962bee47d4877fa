package import APNsWire
package import FoundationEssentials

/// The channel that an app needs before it starts a Live Activity for an event.
package struct LookupEntry: Sendable, Hashable {
    package var eventKey: EventKey
    /// The event's state; `ended` as soon as this audience got its own `end`.
    package var state: Event.State
    /// The variant of the audience.
    package var variant: Variant?
    /// The variants of all of the app's audiences in the event, as declared. An audience without a variant adds none.
    package var variants: [Variant]
    package var storagePolicy: StoragePolicy
    /// Apple's channel ID; `nil` while there is no channel yet, and if activities are reached by tokens.
    package var channelID: String?
    /// Why there is no channel yet.
    package var wait: ChannelWait
    package var startsAt: Date?
    package var endsAt: Date?
    /// The newest accepted content state as JSON text; only if requested.
    package var contentState: [UInt8]?
    /// `aps.timestamp` of the message with this content state, in seconds since 1970. Before the message is sent: the
    /// lowest timestamp that it can get.
    package var timestamp: Int?
    package var delivery: Audience.Delivery

    package init(
        eventKey: EventKey, state: Event.State, storagePolicy: StoragePolicy, channelID: String?, startsAt: Date?,
        endsAt: Date?, contentState: [UInt8]? = nil, timestamp: Int? = nil, delivery: Audience.Delivery = .channel,
        variant: Variant? = nil, variants: [Variant] = [], wait: ChannelWait = ChannelWait()
    ) {
        self.eventKey = eventKey
        self.state = state
        self.storagePolicy = storagePolicy
        self.channelID = channelID
        self.wait = wait
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.contentState = contentState
        self.timestamp = timestamp
        self.delivery = delivery
        self.variant = variant
        self.variants = variants
    }
}
