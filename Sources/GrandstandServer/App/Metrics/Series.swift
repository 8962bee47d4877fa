internal import CoreMetrics
internal import Synchronization

/// One time series: a counter, a gauge or a histogram.
final class Series: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    /// The default upper bounds of a histogram in seconds: from a fast SQL statement to a request that timed out.
    static let bounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private struct State {
        var value = 0.0
        var count = 0
        /// The number of observations in each bucket. `write` adds them up, because Prometheus' buckets are cumulative.
        var buckets: [Int] = []
    }

    private let kind: Kind
    private let bounds: [Double]
    private let state: Mutex<State>

    init(_ kind: Kind, bounds: [Double] = Series.bounds) {
        self.kind = kind
        self.bounds = bounds
        state = Mutex(State(buckets: kind == .histogram ? Array(repeating: 0, count: bounds.count) : []))
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    /// A counter only increases, so a negative amount is ignored.
    func increment(by amount: Double) {
        guard amount.isFinite, kind == .gauge || amount >= 0 else { return }
        state.withLock { $0.value += amount }
    }

    func decrement(by amount: Double) { increment(by: -amount) }

    /// Prometheus treats a counter that goes back to 0 as a restart.
    func reset() { state.withLock { $0.value = 0 } }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { state.withLock { $0.value = value } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard kind == .histogram else { return set(value) }
        guard value.isFinite else { return }
        state.withLock { state in
            state.value += value
            state.count += 1
            if let place = bounds.firstIndex(where: { value <= $0 }) { state.buckets[place] += 1 }
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(_ name: String, _ labels: Labels, to text: inout String) {
        let state = state.withLock { $0 }
        guard kind == .histogram else {
            text += "\(name)\(labels.braced()) \(Self.number(state.value))\n"
            return
        }
        var sum = 0
        for (bound, count) in zip(bounds, state.buckets) {
            sum += count
            text += "\(name)_bucket\(labels.braced(and: "le=\"\(Self.number(bound))\"")) \(sum)\n"
        }
        text += "\(name)_bucket\(labels.braced(and: "le=\"+Inf\"")) \(state.count)\n"
        text += "\(name)_sum\(labels.braced()) \(Self.number(state.value))\n"
        text += "\(name)_count\(labels.braced()) \(state.count)\n"
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}
