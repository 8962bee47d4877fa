internal import Foundation
internal import Testing

@testable internal import GrandstandServer

/// Compares dashboards and alerts with the metrics of docs/metrics.md.
struct MetricsPageTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    @Test func `every row of the page is read, with its labels and its meaning`() throws {
        let rows = try Self.text("docs/metrics.md").matches(of: /\n\| `grandstand_[a-z_]+` \|/)
        let metrics = MetricDescription.all
        #expect(metrics.count == rows.count && metrics.count > 40)
        for metric in metrics {
            #expect(metric.name.wholeMatch(of: /grandstand_[a-z_]+/) != nil && metric.help.hasSuffix("."), "\(metric)")
            #expect(metric.labels.allSatisfy { $0.wholeMatch(of: /[a-z_]+/) != nil }, "\(metric)")
        }
        #expect(metrics.first { $0.name == "grandstand_channels" }?.labels == ["bundle_id", "environment", "state"])
    }

    @Test func `dashboards and alerts use existing metrics with existing labels, and together all metrics`() throws {
        let known = Dictionary(uniqueKeysWithValues: MetricDescription.all.map { ($0.name, $0) })
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
