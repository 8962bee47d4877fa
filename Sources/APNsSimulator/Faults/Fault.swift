/// A rule: an effect, the requests it is for, and how often.
struct Fault: Sendable, Hashable {
    /// For people and the journal; unique among the faults of a simulator.
    var name: String
    var match = FaultMatch()
    var action: FaultAction
    /// Acts at most so often; `nil`: always.
    var times: Int?

    /// Requests so far that matched, counting aside.
    var seen = 0
    /// Requests it acted on.
    var acted = 0

    init(name: String = "", match: FaultMatch = FaultMatch(), action: FaultAction, times: Int? = nil) {
        self.name = name
        self.match = match
        self.action = action
        self.times = times
    }

    /// Counts a request that matches, and says whether the fault acts on it.
    mutating func claim(using random: inout SeededRandom) -> Bool {
        seen += 1
        if let times, acted >= times { return false }
        if let nth = match.nth, seen != nth { return false }
        if let every = match.every, !seen.isMultiple(of: every) { return false }
        // Drawn for every request that comes so far, so that a run depends on its seed and its requests alone.
        if let rate = match.rate, random.unit() >= rate { return false }
        acted += 1
        return true
    }
}

extension SeededRandom {
    /// From 0 up to, but not including, 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
