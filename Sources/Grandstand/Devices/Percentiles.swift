/// The 50th, 95th and 99th percentile of some measurements (nearest rank).
package struct Percentiles: Sendable, Hashable {
    package let p50: Double
    package let p95: Double
    package let p99: Double

    /// - Parameter counts: how often each value was measured.
    /// - Returns: `nil`: nothing was measured.
    package init?(_ counts: [Double: Int]) {
        let sorted = counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        let total = sorted.reduce(0) { $0 + $1.value }
        guard total > 0 else { return nil }
        func value(_ percent: Int) -> Double {
            // In whole numbers, because the product of two doubles may be a little more than the exact one.
            var rank = (total * percent + 99) / 100
            for (value, count) in sorted {
                rank -= count
                if rank <= 0 { return value }
            }
            return sorted[sorted.count - 1].key
        }
        (p50, p95, p99) = (value(50), value(95), value(99))
    }
}
