internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// One audience of an event, with everything that a lookup's answer depends on except the time.
struct LookupRecord: Sendable, Hashable {
    /// The lowercased bundle ID.
    var topic: String
    var environment: APNsEnvironment
    var variant: Variant?
    var storagePolicy: StoragePolicy
    var delivery: Audience.Delivery
    /// Apple's ID; `nil` while there is no channel to follow.
    var channelID: String?
    /// Why there is no channel yet. When the opening time passes, nothing is announced until the channel exists or its
    /// creation is refused.
    var wait: ChannelWait
    var startsAt: Date?
    var endsAt: Date?
    var firstUpdateAt: Date?
    /// When the event ended for this audience, which may be before the event itself ends.
    var endedAt: Date?
    var cancelledAt: Date?
    /// The event's fields in lists; `nil`: lists leave the event out.
    var listing: EventListing?

    init(
        topic: String, environment: APNsEnvironment, storagePolicy: StoragePolicy, channelID: String?,
        delivery: Audience.Delivery = .channel, startsAt: Date? = nil, endsAt: Date? = nil, firstUpdateAt: Date? = nil,
        endedAt: Date? = nil,
        cancelledAt: Date? = nil, variant: Variant? = nil, listing: EventListing? = nil,
        wait: ChannelWait = ChannelWait()
    ) {
        self.topic = topic
        self.environment = environment
        self.variant = variant
        self.storagePolicy = storagePolicy
        self.delivery = delivery
        self.channelID = channelID
        self.wait = wait
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.firstUpdateAt = firstUpdateAt
        self.endedAt = endedAt
        self.cancelledAt = cancelledAt
        self.listing = listing
    }

    /// The answer to a lookup of the event with this key at `now`.
    ///
    /// - Parameter variants: the variants of all of the app's audiences.
    func answer(of key: EventKey, variants: [Variant] = [], now: Date) -> LookupAnswer {
        LookupAnswer(lookup(of: key, variants: variants, now: now), wait)
    }

    /// The audience of the event with this key as it is at `now`.
    ///
    /// - Parameters:
    ///   - variants: the variants of all of the app's audiences.
    ///   - contentState: the newest content.
    ///   - timestamp: `aps.timestamp` of the message with this content.
    func lookup(
        of key: EventKey, variants: [Variant] = [], contentState: RawJSON? = nil, timestamp: Int? = nil, now: Date
    ) -> Contract.Lookup {
        let hasChannel =
            switch delivery {
            case .channel: true
            case .tokens: false
            }
        return Contract.Lookup(
            eventKey: key.rawValue, channelId: hasChannel ? channelID : nil,
            // Only audiences that are reached by tokens have `delivery`. Older apps do not know this member, but they
            // look up only events with a channel.
            delivery: hasChannel ? nil : .init(delivery), variant: variant?.rawValue,
            variants: variants.isEmpty ? nil : variants.map(\.rawValue), storagePolicy: .init(storagePolicy),
            state: .init(state(now: now)), startsAt: startsAt, endsAt: endsAt, contentState: contentState,
            timestamp: timestamp)
    }

    /// Whether this audience can no longer follow the event.
    var isOver: Bool { endedAt != nil || cancelledAt != nil }

    func state(now: Date) -> Event.State {
        Event.State(
            startsAt: startsAt, firstUpdateAt: firstUpdateAt, endedAt: endedAt, cancelledAt: cancelledAt, now: now)
    }
}

extension [LookupRecord] {
    /// The answer to a lookup of an event with these records, which are in the order of their declaration.
    ///
    /// - Returns: `nil` for an app that has no audience in the event.
    func answer(to name: LookupName, now: Date) -> LookupAnswer? {
        let isOfApp: (LookupRecord) -> Bool = { $0.environment == name.environment && $0.topic == name.topic }
        if let record = first(of: name.variant, where: isOfApp) {
            return record.answer(of: name.key, variants: lazy.filter(isOfApp).compactMap(\.variant), now: now)
        }
        let others = filter(isOfApp).map(\.variant)
        return others.isEmpty ? nil : .noSuchVariant(among: others)
    }

    /// The record with this variant among those for which `isOfApp` is true. For `nil`: the record without a variant,
    /// else the first that is not over, else the first.
    func first(of variant: Variant?, where isOfApp: (LookupRecord) -> Bool = { _ in true }) -> LookupRecord? {
        var first: Int?
        for index in indices where isOfApp(self[index]) {
            if self[index].variant == variant { return self[index] }
            if first.map({ self[$0].isOver && !self[index].isOver }) ?? true { first = index }
        }
        return variant == nil ? first.map { self[$0] } : nil
    }
}
