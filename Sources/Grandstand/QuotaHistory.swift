package import APNsWire
package import FoundationEssentials

/// A past quota of an app in one environment: one sample, or several samples combined into one step.
package struct QuotaSample: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// The end of the step.
    package var at: Date
    package var used: Int
    package var reserved: Int
    /// The highest number of used places in the step's samples.
    package var peak: Int
    package var limit: Int
    /// `created` and `deleted`: how many channels Apple created in the step, and how many it deleted.
    package var created: Int
    package var deleted: Int

    package init(
        bundleID: BundleID, environment: APNsEnvironment, at: Date, used: Int, reserved: Int, peak: Int, limit: Int,
        created: Int, deleted: Int
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.at = at
        self.used = used
        self.reserved = reserved
        self.peak = peak
        self.limit = limit
        self.created = created
        self.deleted = deleted
    }
}

/// Which samples to read.
package struct QuotaHistory: Sendable, Hashable {
    package var bundleID: BundleID?
    package var environment: APNsEnvironment?
    package var reach: AppReach
    /// Steps that end after `from` and begin before `to`. The last step may be incomplete.
    package var from: Date
    package var to: Date
    /// Seconds: a multiple of `fine`.
    package var step: Int
    /// The maximum number of samples to return, each combined for one step. They are in the order of app, environment
    /// and time.
    package var limit = 2 * maximum

    package init(
        bundleID: BundleID? = nil, environment: APNsEnvironment? = nil, within reach: AppReach = .all, from: Date,
        to: Date, step: Int
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.reach = reach
        self.from = from
        self.to = to
        self.step = step
    }

    /// `fine` and `coarse`: seconds between two samples. `fineKept` and `coarseKept`: seconds for which these samples
    /// are kept. After `fineKept` only hourly samples remain.
    package static let fine = 300
    package static let fineKept: TimeInterval = 2 * 86_400
    package static let coarse = 3_600
    package static let coarseKept: TimeInterval = 400 * 86_400
    /// The most samples in one answer.
    package static let maximum = 10_000

    /// Seconds between the samples that the steps are made of.
    package var resolution: Int { step.isMultiple(of: Self.coarse) ? Self.coarse : Self.fine }

    /// The number of steps in the period.
    package var steps: Int { max(0, Int((to.timeIntervalSince(from) / Double(step)).rounded(.up))) }

    /// The latest time that ends a step of `seconds` and is not after `now`.
    package static func end(of seconds: Int, at now: Date) -> Date {
        let whole = (now.timeIntervalSince1970 / Double(seconds)).rounded(.down)
        return Date(timeIntervalSince1970: whole * Double(seconds))
    }

    /// The finest step for which samples still exist and that gives at most a thousand samples.
    package static func step(from: Date, to: Date, now: Date) -> Int {
        let fits = to.timeIntervalSince(from) / Double(fine) <= 1_000
        if fits, now.timeIntervalSince(from) <= fineKept { return fine }
        return to.timeIntervalSince(from) / Double(coarse) <= 1_000 ? coarse : 86_400
    }
}
