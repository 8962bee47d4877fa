internal import CoreMetrics
internal import Synchronization

/// One time series: a counter, a gauge or a histogram.
final class Series: CounterHandler, RecorderHandler, TimerHandler {
    /// The upper bounds of a histogram in seconds: from a fast SQL statement to a push that waited until an outage ended.
    private static let bounds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
    ]

    private struct State {
        var value = 0.0
        var count = 0
        /// The number of observations in each bucket. `write` adds them up, because Prometheus' buckets are cumulative.
        var buckets = Series.bounds.map { _ in 0 }
    }

    let metric: MetricDescription
    /// The labels as text in Prometheus' format.
    let labels: String
    private let state = Mutex(State())

    init(_ metric: MetricDescription, _ labels: [String]) {
        (self.metric, self.labels) = (metric, metric.labelText(labels))
    }

    /// The value of a counter or gauge; the sum of a histogram.
    var value: Double { state.withLock { $0.value } }
    /// The number of a histogram's observations.
    var count: Int { state.withLock { $0.count } }

    func increment(by amount: Int64) { state.withLock { $0.value += Double(amount) } }

    /// Prometheus treats a counter that goes back to 0 as a restart.
    func reset() { state.withLock { $0.value = 0 } }

    func record(_ value: Int64) { record(Double(value)) }

    /// Sets a gauge, or adds an observation to a histogram.
    func record(_ value: Double) {
        state.withLock { state in
            guard metric.kind == .histogram else { return state.value = value }
            state.value += value
            state.count += 1
            if let place = Self.bounds.firstIndex(where: { value <= $0 }) { state.buckets[place] += 1 }
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(to text: inout String) {
        let (name, state) = (metric.name, state.withLock { $0 })
        guard metric.kind == .histogram else {
            text += Self.line(name, labels, state.value)
            return
        }
        let prefix = labels.isEmpty ? "" : labels + ","
        var sum = 0
        for (bound, count) in zip(Self.bounds, state.buckets) {
            sum += count
            text += Self.line(name + "_bucket", prefix + "le=\"\(Self.number(bound))\"", Double(sum))
        }
        text += Self.line(name + "_bucket", prefix + "le=\"+Inf\"", Double(state.count))
        text += Self.line(name + "_sum", labels, state.value)
        text += Self.line(name + "_count", labels, Double(state.count))
    }

    static func line(_ name: String, _ labels: String, _ value: Double) -> String {
        "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(number(value))\n"
    }

    private static func number(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
}
