package import FoundationEssentials

/// How far this machine's wall clock is from the database's. Processes agree on times by the database's clock only. But
/// provider tokens carry this machine's time, and Apple refuses tokens whose time is wrong.
package enum ClockStanding: Sendable, Hashable {
    case right
    /// The clocks differ enough for a warning.
    case off
    /// The clocks differ so much that this process must not claim work.
    case unusable

    /// The difference in seconds beyond which a clock is `off`, and beyond which it is `unusable`.
    package static let offBeyond: TimeInterval = 2
    package static let unusableBeyond: TimeInterval = 10

    /// - Parameters:
    ///   - lead: the range of the seconds by which the wall clock may be ahead. If the range includes zero, the clock
    ///     counts as right.
    ///   - before: the standing at the last reading. The standing improves only if the clocks differ by at most 90 % of
    ///     the seconds beyond which `before` begins, so that a clock near this bound is reported once.
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
