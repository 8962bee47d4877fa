/// When the clocks of a time zone stand how far from UTC.
package struct ZoneRules: Sendable, Hashable {
    struct Transition: Sendable, Hashable {
        /// Seconds since 1970.
        var at: Int
        /// Seconds east of UTC from then on.
        var offset: Int
    }

    package static let utc = ZoneRules(initial: 0, transitions: [])

    /// Before the first transition.
    let initial: Int
    /// In order of time.
    let transitions: [Transition]

    init(initial: Int, transitions: [Transition]) {
        self.initial = initial
        self.transitions = transitions.sorted { $0.at < $1.at }
    }

    /// The last year that rules without an end are followed to.
    static let lastYear = CalendarLimits.years.upperBound + 1

    package func offset(at time: Int) -> Int {
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle].at <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? initial : transitions[low - 1].offset
    }

    /// When the clock on the wall shows `local`. A time it shows twice is the first; one that it skips is read by the
    /// offset before (RFC 5545 3.3.5).
    package func instant(local: Int) -> Int {
        let before = offset(at: local - 86_400)
        if offset(at: local - before) == before { return local - before }
        let after = offset(at: local + 86_400)
        return offset(at: local - after) == after ? local - after : local - before
    }
}
