internal import CoreMetrics
internal import Testing

@testable internal import GrandstandServer

/// The text that Prometheus reads, written through the API of swift-metrics.
struct ServerMetricsTests {
    private func text(_ metrics: ServerMetrics) -> String { String(decoding: metrics.exposition(), as: UTF8.self) }

    @Test func `series are written with the help of their metric, and gauges of sources beside them`() {
        let metrics = ServerMetrics()
        for labels in [[("reason", "a\"b\\c\nd")], [("reason", "ok")]] {
            Counter(label: "grandstand_starts_total", dimensions: labels, factory: metrics).increment(by: 2)
        }
        Counter(label: "grandstand_starts_total", dimensions: [("reason", "ok")], factory: metrics).increment()
        Gauge(label: "grandstand_circuit_open", dimensions: [("environment", "a")], factory: metrics).record(1.5)
        metrics.tell { [GaugeSample("grandstand_circuit_open", [("environment", "b")], 2), GaugeSample("lag", 1)] }
        let text = text(metrics)
        #expect(
            text.contains(
                """
                grandstand_starts_total Pushes that start an activity and were settled, with APNs' reason if it gave one.
                # TYPE grandstand_starts_total counter
                grandstand_starts_total{reason="a\\"b\\\\c\\nd"} 2
                grandstand_starts_total{reason="ok"} 3

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
        let series = Series(MetricDescription("took_seconds", .histogram, bounds: [1, 60], ""), [("route", "/")])
        for seconds in [0.5, 1, 30, 90] { series.recordNanoseconds(Int64(seconds * 1e9)) }
        var text = ""
        series.write(to: &text)
        #expect(
            text == """
                took_seconds_bucket{route="/",le="1"} 2
                took_seconds_bucket{route="/",le="60"} 3
                took_seconds_bucket{route="/",le="+Inf"} 4
                took_seconds_sum{route="/"} 121.5
                took_seconds_count{route="/"} 4

                """)
    }
}
