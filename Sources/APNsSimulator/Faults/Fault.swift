/// A rule: an action, the requests that the action applies to, and how often it applies.
struct Fault: Sendable, Hashable {
    /// A name for people and the journal; unique among the faults of a simulator.
    var name: String
    var match = FaultMatch()
    var action: FaultAction
    /// The most requests that the fault acts on; `nil`: no limit.
    var times: Int?

    /// The number of requests so far that matched, without regard to `nth`, `every`, `rate` and `times`.
    var seen = 0
    /// The number of requests that the fault acted on.
    var acted = 0

    init(name: String = "", match: FaultMatch = FaultMatch(), action: FaultAction, times: Int? = nil) {
        self.name = name
        self.match = match
        self.action = action
        self.times = times
    }

    /// Counts a request that matches, and returns whether the fault acts on it.
    mutating func claim(using random: inout SeededRandom) -> Bool {
        seen += 1
        if let times, acted >= times { return false }
        if let nth = match.nth, seen != nth { return false }
        if let every = match.every, !seen.isMultiple(of: every) { return false }
        // Draw a number for every request that comes this far, so that a run depends only on its seed and its requests.
        if let rate = match.rate, random.unit() >= rate { return false }
        acted += 1
        return true
    }
}

extension SeededRandom {
    /// A random number from 0 up to, but not including, 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
