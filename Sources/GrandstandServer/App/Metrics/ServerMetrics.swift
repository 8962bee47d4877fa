internal import CoreMetrics
internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// The metrics of this process: a swift-metrics backend that exports them for `GET /metrics`, in Prometheus' text format
/// (version 0.0.4). Recorders that do not aggregate are gauges, other recorders and timers are histograms.
final class ServerMetrics: MetricsFactory {
    /// The series by name and values of labels.
    private let series = Mutex<[[String]: Series]>([:])
    private let sources = Mutex<[@Sendable () -> [GaugeSample]]>([])
    private let metrics = Dictionary(uniqueKeysWithValues: MetricDescription.all.map { ($0.name, $0) })

    init() {
        series(
            "grandstand_build_info",
            [("version", BuildInfo.version), ("schema", "\(BuildInfo.schema)"), ("swift", BuildInfo.swift)]
        ).record(1.0)
        series("grandstand_start_time_seconds").record(Date().timeIntervalSince1970)
    }

    /// The series of a metric with these labels. The values of labels must be bounded, because a series is kept for ever.
    func series(
        _ name: String, _ labels: [(String, String)] = [], _ kind: MetricDescription.Kind = .gauge
    ) -> Series {
        series.withLock { series in
            let key = [name] + labels.map(\.1)
            if let known = series[key] { return known }
            let made = Series(metrics[name] ?? MetricDescription(name, kind, ""), labels)
            series[key] = made
            return made
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions, aggregate ? .histogram : .gauge)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram)
    }

    // A destroyed handler's series is still exported, because a gap would look like a restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    /// Adds a source of gauges, which is called whenever metrics are read.
    func tell(_ source: @escaping @Sendable () -> [GaugeSample]) { sources.withLock { $0.append(source) } }

    /// - Parameter path: the route's path; `nil`: there is no route. The request's own path is not used, so that
    ///   clients cannot create new time series.
    func answered(method: String, path: String?, status: Int, time: Duration) {
        // An HTTP client can send any method. All unknown methods share one series, so that a client cannot create any
        // number of series.
        let isKnown = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(method)
        answers(method: isKnown ? method : "other", path: path ?? "none", status: status)(time)
    }

    /// Returns a counter for answers of one kind.
    func answers(method: String, path: String, status: Int) -> @Sendable (Duration) -> Void {
        let route = [("method", method), ("route", path)]
        let counter = series("grandstand_http_requests_total", route + [("status", "\(status)")])
        let timer = series("grandstand_http_request_seconds", route)
        return { time in
            counter.increment(by: 1)
            timer.record(time.seconds)
        }
    }

    /// Returns a counter for lookups that ended with one result.
    func lookups(_ result: LookupResult) -> @Sendable () -> Void {
        let counter = series("grandstand_lookups_total", [("result", result.rawValue)])
        return { counter.increment(by: 1) }
    }

    /// All metrics as the body of an answer.
    func exposition() -> [UInt8] {
        let kept = Dictionary(grouping: series.withLock { $0.values.map(\.self) }, by: \.metric.name)
        let momentary = Dictionary(grouping: sources.withLock(\.self).flatMap { $0() }, by: \.name)
        var text = ""
        for name in Set(kept.keys).union(momentary.keys).sorted() {
            if let help = metrics[name]?.help { text += "# HELP \(name) \(help)\n" }
            text += "# TYPE \(name) \((metrics[name]?.kind ?? .gauge).rawValue)\n"
            for one in (kept[name] ?? []).sorted(by: { $0.labels < $1.labels }) { one.write(to: &text) }
            for gauge in momentary[name] ?? [] { text += Series.line(name, Series.text(gauge.labels), gauge.value) }
        }
        return Array(text.utf8)
    }
}
