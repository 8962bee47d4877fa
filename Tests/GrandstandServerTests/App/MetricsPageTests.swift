internal import Foundation
internal import Testing

@testable internal import GrandstandServer

/// Compares docs/metrics.md, dashboards and alerts with the metrics in the code.
struct MetricsPageTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    @Test func `the metrics page has every metric with its type, labels and meaning, and no other`() throws {
        let page = try Self.text("docs/metrics.md")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `grandstand_") }.map(String.init)
        let expected = MetricCatalog.all.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(metric.name)` | \(metric.kind.rawValue) | \(labels.isEmpty ? "–" : labels) | \(metric.help) |"
        }
        #expect(rows == expected)
    }

    @Test func `dashboards and alerts use existing metrics with existing labels, and together all metrics`() throws {
        let known = Dictionary(uniqueKeysWithValues: MetricCatalog.all.map { ($0.name, $0) })
        var used: Set<String> = []
        for path in ["prometheus/grandstand.rules.yaml"]
            + ["match-day", "quota", "processes"].map({ "grafana/\($0).json" })
        {
            let before = used.count
            for match in try Self.text("docker/" + path).matches(of: /(grandstand_[a-z_]+)(\{[^}]*\})?/) {
                let word = String(match.output.1)
                let name = word.replacing(/_(bucket|sum|count)$/, with: "")
                let metric = try #require(known[word] ?? known[name], "\(word)")
                for label in (match.output.2 ?? "").matches(of: /([a-z_]+)\s*[=!]/) {
                    #expect(metric.labels.contains(String(label.output.1)), "\(word) has no \(label.output.1)")
                }
                used.insert(metric.name)
            }
            #expect(used.count > before, "\(path)")
        }
        #expect(used == Set(known.keys))
    }

    @Test func `every alert says what to do, and the runbook explains it`() throws {
        let rules = try Self.text("docker/prometheus/grandstand.rules.yaml")
        let names = rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) }
        #expect(names.count >= 10)
        #expect(rules.matches(of: /summary:/).count == names.count)
        let page = try Self.text("docs/runbook.md")
        let cases = try Self.text("docker/prometheus/grandstand.tests.yaml")
        for name in names {
            #expect(rules.contains("docs/runbook.md#\(name.lowercased())."), "\(name)")
            #expect(page.contains("\n### \(name)\n"), "\(name)")
            #expect(cases.contains("\(name)\""), "\(name) has no test of when it fires")
        }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
