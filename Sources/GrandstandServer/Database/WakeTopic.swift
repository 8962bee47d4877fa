internal import APNsWire
internal import Grandstand

/// The topics of wake-ups.
enum WakeTopic: String, Sendable, Hashable, CaseIterable {
    /// Lanes of channels in the development environment may have deliveries that are due.
    case developmentLanes = "grandstand_lanes_development"
    /// Lanes of channels in the production environment may have deliveries that are due.
    case productionLanes = "grandstand_lanes_production"
    /// Lanes of crowds in the development environment may have deliveries that are due.
    case developmentCrowds = "grandstand_crowds_development"
    /// Lanes of crowds in the production environment may have deliveries that are due.
    case productionCrowds = "grandstand_crowds_production"
    /// Starts of events have work to do.
    case starts = "grandstand_starts"
    /// A broadcast was accepted for later.
    case schedule = "grandstand_schedule"
    /// The set of channels that should exist has changed.
    case channels = "grandstand_channels"
    /// There are messages for webhooks.
    case webhooks = "grandstand_webhooks"

    static func lanes(_ environment: APNsEnvironment) -> WakeTopic {
        switch environment {
        case .development: .developmentLanes
        case .production: .productionLanes
        }
    }

    static func crowds(_ environment: APNsEnvironment) -> WakeTopic {
        switch environment {
        case .development: .developmentCrowds
        case .production: .productionCrowds
        }
    }
}

extension Lane {
    /// The topic of the loop that sends the lane's messages.
    var topic: WakeTopic { kind.isCrowd ? .crowds(audience.environment) : .lanes(audience.environment) }
}
