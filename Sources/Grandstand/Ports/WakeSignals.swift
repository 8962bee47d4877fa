package import APNsWire

/// Wakes loops when the database holds work for them. A wake-up says nothing of what to do: loops recompute from state.
package protocol WakeSignals: Sendable {
    /// Yields whenever there may be new work of `topic`, also after a time in which signals may have been lost.
    func wakes(_ topic: WakeTopic) -> AsyncStream<Void>

    /// The names that come with wake-ups of `topic`; every one, so they must be read as they come.
    func names(_ topic: WakeTopic) -> AsyncStream<WakeName>
}

/// What a wake-up is about.
package enum WakeName: Sendable, Hashable {
    /// Listening began, or began again: anything may have happened.
    case anything
    case name(String)
}

/// What a loop can be woken for.
package enum WakeTopic: String, Sendable, Hashable, CaseIterable {
    /// Lanes of channels in the development environment have new deliveries.
    case developmentLanes = "grandstand_lanes_development"
    /// Lanes of channels in the production environment have new deliveries.
    case productionLanes = "grandstand_lanes_production"
    /// Starts of events have something to do.
    case starts = "grandstand_starts"
    /// A broadcast was accepted for later.
    case schedule = "grandstand_schedule"
    /// What channels should exist has changed.
    case channels = "grandstand_channels"
    /// Broadcasts of an event that somebody looks at have changed; the name is the event's key.
    case live = "grandstand_live"
    /// There are messages for webhooks.
    case webhooks = "grandstand_webhooks"

    package static func lanes(_ environment: APNsEnvironment) -> WakeTopic {
        switch environment {
        case .development: .developmentLanes
        case .production: .productionLanes
        }
    }
}
