package import APNsWire
package import FoundationEssentials

/// An app's quota in one environment as it was: what a sample said, or several in one step.
package struct QuotaSample: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// The end of the step.
    package var at: Date
    package var used: Int
    package var reserved: Int
    /// The most places taken at once, of the step's samples.
    package var peak: Int
    package var limit: Int
    /// Channels that Apple made, and took back, in the step.
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

/// Which samples are wanted.
package struct QuotaHistory: Sendable, Hashable {
    package var bundleID: BundleID?
    package var environment: APNsEnvironment?
    package var reach: AppReach
    /// Steps that end after `from` and begin before `to`: the last one may not be over.
    package var from: Date
    package var to: Date
    /// Seconds: a multiple of `fine`.
    package var step: Int
    /// How many samples are read at most, from the first app on.
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

    /// Seconds between two samples, and for how long they are kept; after that those of an hour are left.
    package static let fine = 300
    package static let fineKept: TimeInterval = 2 * 86_400
    package static let coarse = 3_600
    package static let coarseKept: TimeInterval = 400 * 86_400
    /// Samples one answer may have.
    package static let maximum = 10_000

    /// Seconds of the samples that steps are made of.
    package var resolution: Int { step.isMultiple(of: Self.coarse) ? Self.coarse : Self.fine }

    /// Steps from beginning to end.
    package var steps: Int { max(0, Int((to.timeIntervalSince(from) / Double(step)).rounded(.up))) }

    /// The newest end of a step of `seconds` that is not after `now`.
    package static func end(of seconds: Int, at now: Date) -> Date {
        let whole = (now.timeIntervalSince1970 / Double(seconds)).rounded(.down)
        return Date(timeIntervalSince1970: whole * Double(seconds))
    }

    /// The finest step that samples are kept for, of which an answer has at most a thousand.
    package static func step(from: Date, to: Date, now: Date) -> Int {
        let fits = to.timeIntervalSince(from) / Double(fine) <= 1_000
        if fits, now.timeIntervalSince(from) <= fineKept { return fine }
        return to.timeIntervalSince(from) / Double(coarse) <= 1_000 ? coarse : 86_400
    }
}

/// Samples of all quotas over time.
package protocol QuotaHistoryStore: Sendable {
    /// Whether a sample of that time is still to be taken.
    func lacks(_ at: Date) async throws -> Bool

    /// Takes the quotas down as the samples of a time, and forgets those that were kept long enough.
    ///
    /// - Parameter at: the end of a step.
    /// - Returns: whether they were: another replica may have been faster.
    func record(_ quotas: [Quota], at: Date) async throws -> Bool

    /// In order of apps, environments and times. A step without a sample is left out.
    func samples(_ history: QuotaHistory) async throws -> [QuotaSample]
}
