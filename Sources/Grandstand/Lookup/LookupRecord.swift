package import APNsWire
package import FoundationEssentials

/// One audience of an event with all that a lookup's answer depends on, the time excepted.
package struct LookupRecord: Sendable, Hashable {
    /// The lowercased bundle ID.
    package var topic: String
    package var environment: APNsEnvironment
    package var variant: Variant?
    package var storagePolicy: StoragePolicy
    package var delivery: Audience.Delivery
    /// Apple's ID; `nil` while there is no channel to follow.
    package var channelID: String?
    package var startsAt: Date?
    package var endsAt: Date?
    package var firstUpdateAt: Date?
    /// When it was over for this audience: its own end may come before the event's.
    package var endedAt: Date?
    package var cancelledAt: Date?

    package init(
        topic: String, environment: APNsEnvironment, storagePolicy: StoragePolicy, channelID: String?,
        delivery: Audience.Delivery = .channel, startsAt: Date? = nil, endsAt: Date? = nil, firstUpdateAt: Date? = nil,
        endedAt: Date? = nil,
        cancelledAt: Date? = nil, variant: Variant? = nil
    ) {
        self.topic = topic
        self.environment = environment
        self.variant = variant
        self.storagePolicy = storagePolicy
        self.delivery = delivery
        self.channelID = channelID
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.firstUpdateAt = firstUpdateAt
        self.endedAt = endedAt
        self.cancelledAt = cancelledAt
    }

    /// What a lookup of the event with this key answers at `now`.
    package func answer(of key: EventKey, now: Date) -> LookupAnswer {
        let state = Event.State(
            startsAt: startsAt, firstUpdateAt: firstUpdateAt, endedAt: endedAt, cancelledAt: cancelledAt, now: now)
        return LookupAnswer(
            LookupEntry(
                eventKey: key, state: state, storagePolicy: storagePolicy, channelID: channelID, startsAt: startsAt,
                endsAt: endsAt, delivery: delivery, variant: variant))
    }
}

extension [LookupRecord] {
    /// The record of an app's audience; the records of its event are in the order of their declaration.
    ///
    /// - Parameter variant: `nil`: the audience without one, else the first.
    package func first(topic: String, in environment: APNsEnvironment, _ variant: Variant?) -> LookupRecord? {
        var first: Int?
        for index in indices where self[index].environment == environment && self[index].topic == topic {
            if self[index].variant == variant { return self[index] }
            if first == nil { first = index }
        }
        return variant == nil ? first.map { self[$0] } : nil
    }
}
