package import FoundationEssentials

/// How far this machine's wall clock is from the database's. Processes agree on times by the database's clock only. But
/// provider tokens carry this machine's time, and Apple refuses tokens whose time is wrong.
package enum ClockStanding: Sendable, Hashable {
    case right
    /// Off by enough for a warning.
    case off
    /// Off by so much that this process must not claim work.
    case unusable

    /// The bounds in seconds.
    package static let offBeyond: TimeInterval = 2
    package static let unusableBeyond: TimeInterval = 10

    /// - Parameters:
    ///   - lead: bounds of the seconds by which the wall clock is ahead. If they include zero, the clock counts as
    ///     right.
    ///   - before: the standing at the last reading. It improves only if the distance is 10 % below the bound, so that
    ///     a clock near a bound is reported once.
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
