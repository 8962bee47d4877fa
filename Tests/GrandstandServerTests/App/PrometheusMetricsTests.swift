internal import CoreMetrics
internal import Testing

@testable internal import GrandstandServer

/// The text that Prometheus reads, written through the API of swift-metrics.
struct PrometheusMetricsTests {
    private func text(_ metrics: PrometheusMetrics) -> String { String(decoding: metrics.exposition(), as: UTF8.self) }

    @Test func `counters and gauges are written with their labels`() {
        let metrics = PrometheusMetrics()
        let dimensions = [("reason", "ok"), ("host-name", "a\"b\\c\nd")]
        Counter(label: "calls.total", dimensions: dimensions, factory: metrics).increment(by: 2)
        Counter(label: "calls.total", dimensions: dimensions, factory: metrics).increment()
        Counter(label: "calls.total", dimensions: [], factory: metrics).increment(by: -5)
        Meter(label: "open", dimensions: [], factory: metrics).set(1.5)
        #expect(
            text(metrics) == """
                # TYPE calls_total counter
                calls_total 0
                calls_total{reason="ok",host_name="a\\"b\\\\c\\nd"} 3
                # TYPE open gauge
                open 1.5

                """)
    }

    @Test func `timers are histograms in seconds with cumulative buckets`() {
        let metrics = PrometheusMetrics()
        let timer = Timer(label: "took_seconds", dimensions: [("route", "/")], factory: metrics)
        for milliseconds in [1, 2, 40, 20_000] { timer.recordMilliseconds(milliseconds) }
        let text = text(metrics)
        #expect(text.hasPrefix("# TYPE took_seconds histogram\n"))
        #expect(text.contains(#"took_seconds_bucket{route="/",le="0.001"} 1"#))
        #expect(text.contains(#"took_seconds_bucket{route="/",le="0.0025"} 2"#))
        #expect(text.contains(#"took_seconds_bucket{route="/",le="10"} 3"#))
        #expect(text.contains(#"took_seconds_bucket{route="/",le="+Inf"} 4"#))
        #expect(text.contains(#"took_seconds_sum{route="/"} 20.043"#))
        #expect(text.contains(#"took_seconds_count{route="/"} 4"#))
    }

    @Test func `a description gives a metric its help and a histogram its bounds`() {
        let metrics = PrometheusMetrics([
            MetricDescription("took_seconds", .histogram, bounds: [1, 60], "How long\nit \\ took."),
            MetricDescription("unused", .gauge, "Not told."),
        ])
        CoreMetrics.Timer(label: "took_seconds", dimensions: [], factory: metrics).recordSeconds(30)
        #expect(
            text(metrics) == """
                # HELP took_seconds How long\\nit \\\\ took.
                # TYPE took_seconds histogram
                took_seconds_bucket{le="1"} 0
                took_seconds_bucket{le="60"} 1
                took_seconds_bucket{le="+Inf"} 1
                took_seconds_sum 30
                took_seconds_count 1

                """)
    }

    @Test func `a gauge of one scrape is written once, alone or with stored series of the same name`() {
        let metrics = PrometheusMetrics()
        Meter(label: "open", dimensions: [("pool", "a")], factory: metrics).set(1)
        let told = metrics.exposition(with: [
            GaugeSample("open", [("pool", "b")], 2), GaugeSample("lag", 1), GaugeSample("lag", [("x", "\"")], 0),
        ])
        #expect(
            String(decoding: told, as: UTF8.self) == """
                # TYPE lag gauge
                lag 1
                lag{x="\\""} 0
                # TYPE open gauge
                open{pool="a"} 1
                open{pool="b"} 2

                """)
        #expect(text(metrics) == "# TYPE open gauge\nopen{pool=\"a\"} 1\n")
    }

    @Test func `one name has one type, and names are made valid for Prometheus`() {
        let metrics = PrometheusMetrics()
        Counter(label: "1st metric-ü", dimensions: [], factory: metrics).increment()
        Meter(label: "1st metric-ü", dimensions: [], factory: metrics).set(7)
        #expect(text(metrics) == "# TYPE _1st_metric__ counter\n_1st_metric__ 1\n")
    }
}
