internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// What a server tells a Prometheus.
@Suite(.timeLimit(.minutes(20)))
struct MetricsTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

    @Test func `a played match produces all metrics of dashboards and alerts, and only documented ones`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp(channelLimit: 1)
            try await stage.putEvent("derby")
            try await stage.activeChannels(of: "derby")
            // The app's channel limit leaves no channel for this event.
            try await stage.putEvent("final")
            let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            _ = try await stage.settled(id)
            _ = try await stage.api("GET", "/v1/lookup/\(Stage.bundleID)/development/derby")
            let text = try await until("the quota is told to be exceeded") {
                let text = try await Self.scrape(stage.api)
                return text.contains("\ngrandstand_channels_exceed_seconds{") ? text : nil
            }
            let told = Self.families(text)
            #expect(
                text.contains(
                    #"grandstand_deliveries_total{environment="development",state="accepted",reason="none"}"#))

            let page = try Self.text("docs/metrics.md")
            for (name, kind) in told { #expect(page.contains("| `\(name)` | \(kind) |"), "\(name)") }
            for path in ["prometheus/grandstand.rules.yaml", "grafana/match-day.json", "grafana/quota.json"] {
                for match in try Self.text("docker/" + path).matches(of: /grandstand_[a-z_]+/) {
                    let word = String(match.output)
                    let family = word.replacing(/_(bucket|sum|count)$/, with: "")
                    let isTold = told[word] != nil || told[family] == "histogram"
                    #expect(isTold || Self.ofTrouble.contains(word), "\(word), of \(path)")
                }
            }
        }
    }

    @Test func `each of two replicas reports the database`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { one in
                try await one.putApp()
                try await Stage.serve(environment, simulator: simulator) { two in
                    for stage in [one, two] {
                        try await until("the app's limit is told") {
                            try await Self.scrape(stage.api).contains("\ngrandstand_channel_limit{")
                        }
                    }
                }
            }
        }
    }

    /// Metrics that appear only after APNs throttled an app, or answered about device tokens.
    private static let ofTrouble: Set = [
        "grandstand_send_rate", "grandstand_throttled_total", "grandstand_send_waiting_lanes",
        "grandstand_send_waiting_oldest_seconds",
        "grandstand_token_answers_total",
    ]

    static func scrape(_ api: HTTPCaller) async throws -> String {
        try await api("GET", "/metrics").text
    }

    /// The type of each metric, by the metric's name.
    private static func families(_ text: String) -> [String: String] {
        Dictionary(
            text.matches(of: /# TYPE (\w+) (\w+)\n/).map { (String($0.output.1), String($0.output.2)) },
            uniquingKeysWith: { one, _ in one })
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
