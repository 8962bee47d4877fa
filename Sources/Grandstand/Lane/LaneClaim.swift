package import APNsWire
package import FoundationEssentials

/// The parameters of a dispatcher's claim.
package struct LaneClaim: Sendable, Hashable {
    package var environment: APNsEnvironment
    /// The most lanes to lease.
    package var limit: Int
    package var replica: UUID
    /// When the claim was made, by the dispatcher's clock.
    package var at: Date
    package var leasedUntil: Date
    /// Seconds between two messages of a lane, counted from the time at which the first of the two was due.
    package var laneInterval: TimeInterval
    /// The limits of apps that APNs throttles. Other apps have no limit.
    package var limits: [LaneLimit]
    /// Lanes that the replica still works on. The replica does not take these lanes again, even if it could not extend
    /// their leases and the leases ended.
    package var held: Set<Int> = []
    /// Whether the claim takes over lanes of replicas that died.
    package var adopts = true

    package init(
        environment: APNsEnvironment, limit: Int, replica: UUID, at: Date, leasedUntil: Date,
        laneInterval: TimeInterval, limits: [LaneLimit] = []
    ) {
        self.limits = limits
        self.environment = environment
        self.limit = limit
        self.replica = replica
        self.at = at
        self.leasedUntil = leasedUntil
        self.laneInterval = laneInterval
    }
}

/// The number of lanes of one app that may be claimed now.
package struct LaneLimit: Sendable, Hashable {
    package var bundleID: BundleID
    package var allowance: Int
    /// The rate of this replica, in messages a second. A lane that has waited for longer than this rate needs for one
    /// message of each waiting lane comes before all lanes that have not, whatever their ranks.
    package var perSecond: Double

    package init(bundleID: BundleID, allowance: Int, perSecond: Double) {
        self.bundleID = bundleID
        self.allowance = allowance
        self.perSecond = perSecond
    }
}
