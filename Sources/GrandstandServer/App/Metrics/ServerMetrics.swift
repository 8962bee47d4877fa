internal import CoreMetrics
internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// The description of a metric: a row of docs/metrics.md, which is compiled into the program.
struct MetricDescription: Sendable {
    enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    let name: String
    var kind = Kind.gauge
    /// The names of the labels. Values of labels are given in the same order.
    var labels: [String] = []
    /// One sentence, for people.
    var help = ""

    /// Every metric of `GET /metrics`, in the order of the page.
    static let all = EmbeddedFiles.rows(of: "metrics.md").compactMap { cells -> MetricDescription? in
        guard cells.count == 4, let kind = Kind(rawValue: cells[1]) else { return nil }
        let labels = cells[2].split(separator: "`").filter { $0.first?.isLetter ?? false }.map(String.init)
        return MetricDescription(name: cells[0].filter { $0 != "`" }, kind: kind, labels: labels, help: cells[3])
    }

    /// The labels with their values, as text in Prometheus' format. Backslash, quotation mark and line feed of values are
    /// escaped.
    func labelText(_ values: [String]) -> String {
        assert(values.count == labels.count, "\(name) has the labels \(labels)")
        return zip(labels, values).map { label, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(label)=\"\(escaped)\""
        }.joined(separator: ",")
    }
}

/// One value of a gauge that is computed for each scrape, with the values of its labels.
typealias GaugeSample = (name: String, labels: [String], value: Double)

/// The metrics of this process: a swift-metrics backend that exports them for `GET /metrics`, in Prometheus' text format
/// (version 0.0.4).
final class ServerMetrics: MetricsFactory {
    /// The series by name and values of labels.
    private let series = Mutex<[[String]: Series]>([:])
    private let sources = Mutex<[@Sendable () -> [GaugeSample]]>([])
    private let descriptions = Dictionary(uniqueKeysWithValues: MetricDescription.all.map { ($0.name, $0) })

    init() {
        // There are no numbered releases yet. A database must have the newest migration in this program.
        let schema = Migration.all.map(\.version).max() ?? 0
        series("grandstand_build_info", ["development", "\(schema)"]).record(1.0)
        series("grandstand_start_time_seconds").record(Date().timeIntervalSince1970)
    }

    /// The series of a metric with these values of its labels. The values must be bounded, because a series is kept for
    /// ever.
    func series(_ name: String, _ values: [String] = []) -> Series {
        series.withLock { series in
            let key = [name] + values
            if let known = series[key] { return known }
            let made = Series(description(name), values)
            series[key] = made
            return made
        }
    }

    /// A metric that is not on the page is a gauge without labels.
    private func description(_ name: String) -> MetricDescription {
        descriptions[name] ?? MetricDescription(name: name)
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions.map(\.1))
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate _: Bool) -> any RecorderHandler {
        series(label, dimensions.map(\.1))
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions.map(\.1))
    }

    // A destroyed handler's series is still exported, because a gap would look like a restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    /// Adds a source of gauges, which is called whenever metrics are read.
    func addSource(_ source: @escaping @Sendable () -> [GaugeSample]) { sources.withLock { $0.append(source) } }

    /// Returns a counter for answers of one kind.
    ///
    /// - Parameters:
    ///   - method: one of those that the HTTP parser knows. It refuses others.
    ///   - path: the route's path, or `none`. The request's own path is not used, so that clients cannot create new
    ///     time series.
    func onAnswer(method: String, path: String, status: Int) -> @Sendable (Duration) -> Void {
        let counter = series("grandstand_http_requests_total", [method, path, "\(status)"])
        let timer = series("grandstand_http_request_seconds", [method, path])
        return { time in
            counter.increment(by: 1)
            timer.record(time.seconds)
        }
    }

    /// Returns a counter for lookups that ended with one result.
    func onLookup(_ result: LookupResult) -> @Sendable () -> Void {
        let counter = series("grandstand_lookups_total", [result.rawValue])
        return { counter.increment(by: 1) }
    }

    /// All metrics as the body of an answer.
    func exposition() -> [UInt8] {
        let kept = Dictionary(grouping: series.withLock { $0.values.map(\.self) }, by: \.metric.name)
        let momentary = Dictionary(grouping: sources.withLock(\.self).flatMap { $0() }, by: \.name)
        var text = ""
        for metric in Set(kept.keys).union(momentary.keys).sorted().map(description) {
            let (name, kind) = (metric.name, metric.kind.rawValue)
            if !metric.help.isEmpty { text += "# HELP \(name) \(metric.help)\n" }
            text += "# TYPE \(name) \(kind)\n"
            for one in (kept[name] ?? []).sorted(by: { $0.labels < $1.labels }) { one.write(to: &text) }
            for gauge in momentary[name] ?? [] {
                text += Series.line(name, metric.labelText(gauge.labels), gauge.value)
            }
        }
        return Array(text.utf8)
    }
}
