package import FoundationEssentials

/// Whether APNs accepts the messages of an app. Newer states replace waiting ones, so only the answers show that nothing
/// gets through.
package struct SendHealth: Sendable {
    package private(set) var acceptedAt: Date?
    /// When the first message was sent that failed since the newest acceptance.
    package private(set) var failingSince: Date?
    private var warnedAt: Date?
    private var isWarned = false
    /// Since the last report.
    package private(set) var hasAccepted = false
    package private(set) var hasFailed = false

    /// Seconds between two warnings about an app of which some messages fail and others do not.
    private static let warningPause: TimeInterval = 10

    package init() {}

    /// - Returns: whether to log the failure, as the first one.
    package mutating func noteFailed(sentAt: Date, at now: Date) -> Bool {
        hasFailed = true
        failingSince = failingSince ?? max(sentAt, acceptedAt ?? sentAt)
        let mayWarn = warnedAt.map { now.timeIntervalSince($0) >= Self.warningPause } ?? true
        guard !isWarned, mayWarn else { return false }
        (isWarned, warnedAt) = (true, now)
        return true
    }

    /// - Returns: whether to log the end of failures.
    package mutating func noteAccepted(sentAt: Date, at now: Date) -> Bool {
        (hasAccepted, acceptedAt) = (true, now)
        // The acceptance of a message that was sent before the first failure does not show that failures have ended.
        guard let since = failingSince, sentAt >= since else { return false }
        (hasFailed, failingSince) = (false, nil)
        defer { isWarned = false }
        return isWarned
    }

    /// Begins a new report.
    package mutating func beginReport() { (hasAccepted, hasFailed) = (false, false) }
}
