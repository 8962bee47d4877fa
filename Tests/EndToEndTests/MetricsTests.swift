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
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
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
                #expect(
                    text.contains(
                        #"grandstand_deliveries_total{environment="development",state="accepted",reason="none"}"#))
                try Self.compare(Self.families(text))
                try await Stage.serve(environment, simulator: simulator) { second in
                    try await until("another replica reports the database, too") {
                        try await Self.scrape(second.api).contains("\ngrandstand_channel_limit{")
                    }
                }
            }
        }
    }

    /// Compares the metrics of a server with the page, the rules and the dashboards.
    private static func compare(_ told: [String: String]) throws {
        let page = try text("docs/metrics.md")
        for (name, kind) in told { #expect(page.contains("| `\(name)` | \(kind) |"), "\(name)") }
        for path in ["prometheus/grandstand.rules.yaml", "grafana/match-day.json", "grafana/quota.json"] {
            for match in try text("docker/" + path).matches(of: /grandstand_[a-z_]+/) {
                let word = String(match.output)
                let family = word.replacing(/_(bucket|sum|count)$/, with: "")
                let isTold = told[word] != nil || told[family] == "histogram"
                #expect(isTold || ofTrouble.contains(word), "\(word), of \(path)")
            }
        }
    }

    @Test func `metrics and probes are only on the operations port if one is configured`() async throws {
        try await Stage.place(settings: ["GRANDSTAND_OPERATIONS_PORT": "0"]) { environment, _ in
            let process = try await ServerProcess.start(environment, keepsLog: true)
            let url = try await until("the operations' address") {
                process.log.split(separator: "\n").compactMap { line in
                    let entry = try? JSONDecoder().decode(JSON.self, from: Data(line.utf8))
                    return entry?["message"]?.string == "operations" ? entry?["url"]?.string : nil
                }.first
            }
            let (operations, api) = (HTTPCaller(url: url), HTTPCaller(url: process.url))
            for path in ["/metrics", "/healthz", "/readyz"] {
                #expect(try await operations("GET", path).status == 200)
                #expect(try await api("GET", path).status == 404)
            }
            #expect(try await api("GET", "/openapi.yaml").status == 200)
            #expect(try await operations("GET", "/v1/apps").status == 404)
            await process.terminate()
        }
    }

    /// Metrics that appear only after APNs throttled an app, or answered about device tokens.
    private static let ofTrouble: Set = [
        "grandstand_send_rate", "grandstand_throttled_total", "grandstand_send_waiting_lanes",
        "grandstand_send_waiting_oldest_seconds", "grandstand_token_answers_total",
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
