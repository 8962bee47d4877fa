package import APNsWire
package import FoundationEssentials

/// The parameters of a dispatcher's claim: of lanes, or of shards of pushes to devices.
package struct WorkClaim: Sendable, Hashable {
    package var environment: APNsEnvironment
    /// The most lanes or runs to lease.
    package var limit: Int
    package var replica: UUID
    /// When the claim was made, by the dispatcher's clock.
    package var at: Date
    package var leasedUntil: Date
    /// Seconds between two messages of a lane, counted from the time at which the first of the two was due.
    package var laneInterval: TimeInterval = 0
    /// The most pushes of one shard.
    package var shardSize = 1
    /// The limits of apps that APNs throttles, or whose key cannot be used. Other apps have no limit.
    package var limits: [AppLimit]
    /// The lanes or runs that the replica still works on, a run of two shards twice. The replica does not take these
    /// lanes again, even if it could not extend their leases and the leases ended. If a run is leased to this replica
    /// and not in this list, the answer to the claim of the run was lost. So the run may be claimed again. `nil`: not
    /// known.
    package var held: [Int]?
    /// Leases that end at or before this time are over. It is earlier than `at` if leases could not be extended
    /// recently, or if the claim does not look for lanes of replicas that died.
    package var leasesEndedBefore: Date

    /// - Parameter lease: seconds from `at` until `leasedUntil`.
    package init(
        environment: APNsEnvironment, limit: Int, replica: UUID, at: Date,
        lease: TimeInterval, limits: [AppLimit] = []
    ) {
        (self.environment, self.limit, self.limits) = (environment, limit, limits)
        (self.replica, self.at, leasesEndedBefore) = (replica, at, at)
        leasedUntil = at.addingTimeInterval(lease)
    }

    /// The most pushes of one shard of this app.
    package func shardLimit(of bundleID: BundleID) -> Int {
        limits.first { $0.bundleID == bundleID }.map { min(shardSize, $0.allowance) } ?? shardSize
    }
}

/// How many lanes of one app may be claimed now, or how many pushes one of its shards may have.
package struct AppLimit: Sendable, Hashable {
    package var bundleID: BundleID
    /// 0: nothing of the app is claimed.
    package var allowance: Int
    /// The rate of this replica, in messages a second. A lane that has waited for longer than this rate needs for one
    /// message of each waiting lane comes before all lanes that have not, whatever their ranks.
    package var perSecond: Double

    package init(bundleID: BundleID, allowance: Int = 0, perSecond: Double = 1) {
        self.bundleID = bundleID
        self.allowance = allowance
        self.perSecond = perSecond
    }
}

extension [AppLimit] {
    /// The apps of which nothing is claimed.
    package var pausedApps: [String] { filter { $0.allowance == 0 }.map(\.bundleID.rawValue) }
}
