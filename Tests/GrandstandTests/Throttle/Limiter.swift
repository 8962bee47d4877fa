internal import FoundationEssentials

/// Possible forms of APNs' limits.
struct Limiter {
    enum Kind {
        /// A token bucket with this capacity.
        case bucket(depth: Double)
        /// A number of requests in each second of the clock.
        case counter
        /// A number of requests within any second.
        case sliding
    }

    let kind: Kind
    /// Requests a second.
    var rate: Double
    private var tokens: Double
    private var at = 0.0
    private var second = -1
    private var count = 0.0
    private var window: [Double] = []
    private var first = 0

    init(_ kind: Kind, rate: Double) {
        self.kind = kind
        self.rate = rate
        tokens = if case .bucket(let depth) = kind { depth } else { 0 }
    }

    /// Whether a request at this time is accepted. Times must not go back.
    mutating func takes(at time: Double) -> Bool {
        switch kind {
        case .bucket(let depth):
            tokens = min(depth, tokens + (time - at) * rate)
            at = time
            guard tokens >= 1 else { return false }
            tokens -= 1
        case .counter:
            if Int(time) != second { (second, count) = (Int(time), 0) }
            guard count < rate else { return false }
            count += 1
        case .sliding:
            while first < window.count, window[first] <= time - 1 { first += 1 }
            guard Double(window.count - first) < rate else { return false }
            window.append(time)
        }
        return true
    }
}
