internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// Which samples to read.
struct QuotaHistory {
    var bundleID: BundleID?
    var environment: APNsEnvironment?
    var reach = AppReach.all
    /// Steps that end after `from` and begin before `to`. The last step may be incomplete.
    var from: Date
    var to: Date
    /// Seconds: a multiple of `fine`.
    var step: Int

    /// `fine` and `coarse`: seconds between two samples. `fineKept` and `coarseKept`: seconds for which these samples
    /// are kept. After `fineKept` only hourly samples remain.
    static let fine = 300
    static let fineKept: TimeInterval = 2 * 86_400
    static let coarse = 3_600
    static let coarseKept: TimeInterval = 400 * 86_400
    /// The most samples in one answer.
    static let maximum = 10_000

    /// Seconds between the samples that the steps are made of.
    var resolution: Int { step.isMultiple(of: Self.coarse) ? Self.coarse : Self.fine }

    /// The number of steps in the period.
    var steps: Int { max(0, Int((to.timeIntervalSince(from) / Double(step)).rounded(.up))) }

    /// The latest time that ends a step of `seconds` and is not after `now`.
    static func end(of seconds: Int, at now: Date) -> Date {
        let whole = (now.timeIntervalSince1970 / Double(seconds)).rounded(.down)
        return Date(timeIntervalSince1970: whole * Double(seconds))
    }

    /// The finest step for which samples still exist and that gives at most a thousand samples.
    static func step(from: Date, to: Date, now: Date) -> Int {
        let fits = to.timeIntervalSince(from) / Double(fine) <= 1_000
        if fits, now.timeIntervalSince(from) <= fineKept { return fine }
        return to.timeIntervalSince(from) / Double(coarse) <= 1_000 ? coarse : 86_400
    }
}
