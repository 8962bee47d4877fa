internal import APNsWire
internal import Grandstand
internal import GrandstandContract

/// The topics of wake-ups.
enum WakeTopic: String, Sendable, Hashable, CaseIterable {
    /// Channels of the development environment may have deliveries that are due.
    case developmentLanes = "grandstand_lanes_development"
    /// Channels of the production environment may have deliveries that are due.
    case productionLanes = "grandstand_lanes_production"
    /// Tokens may have deliveries that are due.
    case crowds = "grandstand_crowds"
    /// Starts of events have work to do.
    case starts = "grandstand_starts"
    /// A broadcast was accepted for later.
    case schedule = "grandstand_schedule"
    /// The set of channels that should exist has changed.
    case channels = "grandstand_channels"
    /// There are messages for webhooks.
    case webhooks = "grandstand_webhooks"
    /// The answers of lookups have changed. The triggers of the journal say so in the transaction of the change.
    case lookups = "grandstand_lookup"

    static func lanes(_ environment: APNsEnvironment) -> WakeTopic {
        environment == .production ? .productionLanes : .developmentLanes
    }
}

extension Lane {
    /// The topics of the loops that send the lane's messages.
    var topics: [WakeTopic] {
        [.lanes(audience.environment)] + (queue(.tokens).isEmpty ? [] : [.crowds])
    }
}

extension Acceptance {
    /// The topics of the loops that must be woken after the commit; empty if nothing waits for a loop.
    var topics: Set<WakeTopic> {
        var topics = Set(changes.lanes.flatMap(\.topics))
        if broadcasts.contains(where: \.isScheduled) { topics.insert(.schedule) }
        if changedEvents.contains(where: \.ends) { topics.insert(.channels) }
        return topics
    }
}
