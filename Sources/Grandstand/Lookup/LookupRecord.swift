package import APNsWire
package import FoundationEssentials

/// One audience of an event with all that a lookup's answer depends on, the time excepted.
package struct LookupRecord: Sendable, Hashable {
    /// The lowercased bundle ID.
    package var topic: String
    package var environment: APNsEnvironment
    package var storagePolicy: StoragePolicy
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
        startsAt: Date? = nil, endsAt: Date? = nil, firstUpdateAt: Date? = nil, endedAt: Date? = nil,
        cancelledAt: Date? = nil
    ) {
        self.topic = topic
        self.environment = environment
        self.storagePolicy = storagePolicy
        self.channelID = channelID
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.firstUpdateAt = firstUpdateAt
        self.endedAt = endedAt
        self.cancelledAt = cancelledAt
    }

    /// The answer as it is in `state`.
    func entry(for key: EventKey, state: Event.State) -> LookupEntry {
        LookupEntry(
            eventKey: key, state: state, storagePolicy: storagePolicy, channelID: channelID, startsAt: startsAt,
            endsAt: endsAt)
    }

    /// From when on an event that is not over is live (`Event.State`), in microseconds since 1970; `Int64.max`: not
    /// before something happens.
    var liveSince: Int64 { firstUpdateAt == nil ? startsAt?.microseconds ?? .max : .min }
}
