package import FoundationEssentials

/// How far this machine's wall clock may be from the database's. What several processes agree on goes by the database's
/// clock alone; but provider tokens carry this machine's time, and Apple refuses those that are off.
package enum ClockStanding: Sendable, Hashable {
    case right
    /// Worth a word.
    case off
    /// Nothing is to be claimed.
    case unusable

    /// Seconds.
    package static let offBeyond: TimeInterval = 2
    package static let unusableBeyond: TimeInterval = 10

    /// - Parameters:
    ///   - lead: seconds the wall clock is ahead, within these: what is not certain does not count against it.
    ///   - before: what it was at the last look; it becomes better only by a tenth of the bound, so that a clock close
    ///     to a bound is reported once.
    package init(lead: ClosedRange<TimeInterval>, before: ClockStanding = .right) {
        let distance = lead.contains(0) ? 0 : min(abs(lead.lowerBound), abs(lead.upperBound))
        self =
            if distance > Self.unusableBeyond * (before == .unusable ? 0.9 : 1) {
                .unusable
            } else if distance > Self.offBeyond * (before == .right ? 1 : 0.9) {
                .off
            } else {
                .right
            }
    }
}
