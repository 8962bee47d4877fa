internal import CoreMetrics
internal import Testing

@testable internal import GrandstandServer

/// The text that Prometheus reads, written through the API of swift-metrics.
struct ServerMetricsTests {
    private func text(_ metrics: ServerMetrics) -> String { String(decoding: metrics.exposition(), as: UTF8.self) }

    @Test func `series are written with the help of their metric, and gauges of sources beside them`() {
        let metrics = ServerMetrics()
        for reason in ["a\"b\\c\nd", "ok"] {
            let labels = [("state", "rejected"), ("reason", reason)]
            Counter(label: "grandstand_starts_total", dimensions: labels, factory: metrics).increment(by: 2)
        }
        metrics.series("grandstand_starts_total", ["rejected", "ok"]).increment(by: 1)
        Gauge(label: "grandstand_circuit_open", dimensions: [("environment", "a")], factory: metrics).record(1.5)
        metrics.addSource { [("grandstand_circuit_open", ["b"], 2), ("lag", [], 1)] }
        let text = text(metrics)
        #expect(
            text.contains(
                """
                grandstand_starts_total Settled pushes that start an activity, with APNs' reason if it gave one.
                # TYPE grandstand_starts_total counter
                grandstand_starts_total{state="rejected",reason="a\\"b\\\\c\\nd"} 2
                grandstand_starts_total{state="rejected",reason="ok"} 3

                """), "\(text)")
        #expect(
            text.contains(
                """
                # TYPE grandstand_circuit_open gauge
                grandstand_circuit_open{environment="a"} 1.5
                grandstand_circuit_open{environment="b"} 2

                """), "\(text)")
        #expect(text.contains("# TYPE lag gauge\nlag 1\n"), "\(text)")
    }

    @Test func `a histogram has cumulative buckets in seconds`() {
        let series = Series(MetricDescription(name: "took_seconds", kind: .histogram, labels: ["route"]), ["/"])
        for seconds in [0.5, 10, 30, 1_000] { series.recordNanoseconds(Int64(seconds * 1e9)) }
        var text = ""
        series.write(to: &text)
        let lines = text.split(separator: "\n")
        let buckets = lines.filter { $0.hasPrefix("took_seconds_bucket") }
        #expect(buckets.count == 18)
        for (bound, count) in [("0.25", 0), ("0.5", 1), ("5", 1), ("10", 2), ("30", 3), ("900", 3), ("+Inf", 4)] {
            #expect(buckets.contains(#"took_seconds_bucket{route="/",le="\#(bound)"} \#(count)"#), "\(text)")
        }
        #expect(lines.suffix(2) == [#"took_seconds_sum{route="/"} 1040.5"#, #"took_seconds_count{route="/"} 4"#])
    }
}
