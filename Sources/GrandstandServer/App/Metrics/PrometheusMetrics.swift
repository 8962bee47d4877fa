internal import CoreMetrics
internal import Synchronization

/// A swift-metrics backend that exports its metrics in Prometheus' text format (version 0.0.4).
///
/// Counters stay counters and meters are gauges; timers and aggregated recorders are histograms with fixed bounds,
/// timers in seconds. Two handlers with the same label and dimensions share one series.
final class PrometheusMetrics: MetricsFactory {
    private let registry = Mutex(Registry())
    private let descriptions: [String: MetricDescription]

    private struct Registry {
        var families: [String: Family] = [:]
    }

    private struct Family {
        let kind: Series.Kind
        var series: [Labels: Series] = [:]
    }

    /// - Parameter descriptions: the help texts and histogram bounds of metrics.
    init(_ descriptions: [MetricDescription] = []) {
        self.descriptions = Dictionary(descriptions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// All metrics in the text format, as the body of an answer.
    ///
    /// - Parameter gauges: values that exist only for this scrape. They are written once and not stored.
    func exposition(with gauges: [GaugeSample] = []) -> [UInt8] {
        let families = registry.withLock { $0.families.mapValues { ($0.kind, $0.series) } }
        let momentary = Dictionary(grouping: gauges, by: \.name)
        var text = ""
        for name in Set(families.keys).union(momentary.keys).sorted() {
            if let help = descriptions[name]?.help { text += "# HELP \(name) \(PrometheusName.line(help))\n" }
            let (kind, series) = families[name] ?? (.gauge, [:])
            text += "# TYPE \(name) \(kind.rawValue)\n"
            for (labels, one) in series.sorted(by: { $0.key.text < $1.key.text }) {
                one.write(name, labels, to: &text)
            }
            for gauge in momentary[name] ?? [] {
                text += "\(name)\(Labels(gauge.labels).braced()) \(Series.number(gauge.value))\n"
            }
        }
        return Array(text.utf8)
    }

    private func series(_ label: String, _ dimensions: [(String, String)], _ kind: Series.Kind) -> Series {
        let name = PrometheusName.metric(label)
        let labels = Labels(dimensions)
        return registry.withLock { registry in
            // The name already belongs to a metric of another type. The new handler works, but is not exported.
            if let family = registry.families[name], family.kind != kind { return Series(kind) }
            if let known = registry.families[name]?.series[labels] { return known }
            let made = Series(kind, bounds: descriptions[name]?.bounds ?? Series.bounds)
            registry.families[name, default: Family(kind: kind)].series[labels] = made
            return made
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter)
    }

    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions, aggregate ? .histogram : .gauge)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram)
    }

    // A destroyed handler's series is still exported, because a gap would look like a restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

/// The dimensions of a series, as text in Prometheus' format.
struct Labels: Hashable {
    let text: String

    init(_ dimensions: [(String, String)]) {
        text = dimensions.map { "\(PrometheusName.label($0.0))=\"\(PrometheusName.escaped($0.1))\"" }
            .joined(separator: ",")
    }

    func braced(and more: String? = nil) -> String {
        let all = [text, more ?? ""].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? "" : "{\(all)}"
    }
}

/// Names and values in the format that Prometheus allows.
enum PrometheusName {
    static func metric(_ label: String) -> String { cleaned(label) { $0 == ":" } }

    static func label(_ name: String) -> String { cleaned(name) { _ in false } }

    /// A help text with backslash and line feed escaped.
    static func line(_ text: String) -> String {
        text.reduce(into: "") { line, character in
            switch character {
            case "\\": line += "\\\\"
            case "\n": line += "\\n"
            default: line.append(character)
            }
        }
    }

    /// A label's value with backslash, quotation mark and line feed escaped.
    static func escaped(_ value: String) -> String {
        value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
    }

    private static func cleaned(_ text: String, _ isAlsoAllowed: (Character) -> Bool) -> String {
        let plain = String(
            text.map { character in
                let isPlain = character.isASCII && (character.isLetter || character.isNumber || character == "_")
                return isPlain || isAlsoAllowed(character) ? character : "_"
            })
        return plain.first?.isNumber ?? true ? "_" + plain : plain
    }
}
