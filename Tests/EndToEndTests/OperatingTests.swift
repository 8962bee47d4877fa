internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// What a server tells a Prometheus.
@Suite(.timeLimit(.minutes(20)))
struct MetricsTests {
    @Test func `a played match produces all metrics of dashboards and alerts, and only documented ones`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp(channelLimit: 1)
            try await stage.liveEvent("derby")
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
            try await Stage.serve(stage.environment, simulator: stage.simulator) { second in
                try await until("another replica reports the database, too") {
                    try await Self.scrape(second.api).contains("\ngrandstand_channel_limit{")
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
            let process = try await ChildProcess.server(environment, keepsLog: true)
            let url = try await until("the operations' address") {
                process.log.split(separator: "\n").compactMap { line in
                    let entry = JSON(line.utf8)
                    return entry["message"]?.string == "operations" ? entry["url"]?.string : nil
                }.first
            }
            let (operations, api) = (HTTPCaller(url: url), HTTPCaller(url: process.url))
            for path in ["/metrics", "/healthz", "/readyz"] {
                try await until("\(path) is answered") { try await operations("GET", path).status == 200 }
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
        try String(contentsOf: Stage.root.appending(path: path), encoding: .utf8)
    }
}

/// The log of a busy server holds no secret.
@Suite(.timeLimit(.minutes(20)))
struct LogTests {
    private static let token = "80abcdef0123456789abcdef"
    private static let installationSecret = "the-installation-secret-of-a-phone-that-nobody-else-has"

    @Test func `no key, token, signing key or content state is in the log of a busy run`() async throws {
        try await Stage.place(settings: ["GRANDSTAND_LOG_LEVEL": "info"]) { environment, simulator in
            var secret = ""
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putLiveEvent()
                secret = try #require(stage.api.secret)
            }
            let process = try await ChildProcess.server(environment, keepsLog: true)
            let caller = HTTPCaller(url: process.url, secret: secret)
            let made = try await caller("POST", "/v1/keys", #"{"name": "another", "scopes": ["organise"]}"#)
            let other = try #require(made.json["secret"]?.string)
            for n in 0..<20 {
                _ = try await caller(
                    "POST", "/v1/events/derby/broadcasts",
                    #"{"event": "update", "contentState": {"whisper": "geheim-\#(n)"}}"#)
                _ = try await caller(
                    "POST", "/v1/events/derby/broadcasts",
                    #"{"event": "update", "contentState": {"whisper": "geheim-\#(n)}"#)
                _ = try await HTTPCaller(url: process.url, secret: other)("GET", "/v1/events")
                _ = try await HTTPCaller(url: process.url, secret: "gs_guess-\(n)")("GET", "/v1/events")
            }
            let phone = try await caller(
                "POST", "/v1/keys", #"{"name": "app", "scopes": ["device"], "bundleId": "\#(Stage.bundleID)"}"#)
            let device = HTTPCaller(url: process.url, secret: try #require(phone.json["secret"]?.string))
            let installation = "/v1/apps/\(Stage.bundleID)/production/installations/\(UUID())"
            let registration =
                #"{"systemVersion": "18", "startTokens": [{"attributesType": "M", "token": "\#(Self.token)"}]}"#
            let proof = ["Grandstand-Installation-Secret": Self.installationSecret]
            #expect(try await device("PUT", installation, registration, headers: proof).status == 201)
            #expect(try await device("PUT", installation, registration + "}", headers: proof).status == 400)
            let wrong = ["Grandstand-Installation-Secret": String(Self.installationSecret.reversed())]
            #expect(try await device("PUT", installation, registration, headers: wrong).status == 403)
            for (key, status) in [(secret, "303"), ("gs_guess-console", "401")] {
                let form = try Peer(process.url)
                form.send(
                    "POST /console/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                        + "Content-Length: \(4 + key.utf8.count)\r\n\r\nkey=\(key)")
                #expect(await form.answer().hasPrefix("HTTP/1.1 \(status)"))
            }
            _ = try await until("all is sent") {
                let page = try await caller("GET", "/v1/events/derby/broadcasts?limit=1").json
                return page["items"]?[0]?["state"]?.string == "done" ? true : nil
            }
            await process.terminate()
            let log = process.log
            let folder = try #require(environment["GRANDSTAND_APNS_KEY_DIR"])
            let signingKey = try String(contentsOfFile: folder + "/AuthKey_SIMULATOR1.p8", encoding: .utf8)
            let body = signingKey.split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
            #expect(log.contains("listening"))
            // `eyJ` begins every JSON Web Token.
            for word in [
                secret, other, "gs_guess", "geheim", "eyJ", "BEGIN PRIVATE KEY", "Bearer", Self.token, "abcdef01",
                "nstallation-secret-of",
            ] + body {
                #expect(!log.contains(word), "\(word.prefix(12))")
            }
        }
    }
}

/// `grandstand doctor` on an installation that works, and on ones that do not.
@Suite(.timeLimit(.minutes(20)))
struct DoctorTests {
    /// - Parameter changed: settings that differ.
    /// - Returns: the report without the finding that the tests' PostgreSQL runs with `fsync = off`.
    private static func report(
        _ environment: [String: String], _ changed: [String: String] = [:]
    ) async -> DoctorReport {
        var report = await Doctor(environment: environment.merging(changed) { $1 }, logger: Stage.logger).run()
        report.checks.removeAll { $0.name == "database settings" }
        return report
    }

    private static func outcome(_ report: DoctorReport, _ name: String) -> DoctorCheck.Outcome? {
        report.checks.first { $0.name == name }?.outcome
    }

    @Test func `an installation that works is healthy, and every step is named in order`() async throws {
        let empty = try TemporaryFolder()
        try await Stage.place(options: { $0.quirks.capitals = .accepted }) { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putApp()
                // The doctor may run beside the server.
                let port = String(try #require(stage.url.split(separator: ":").last))
                let report = await Self.report(environment, ["GRANDSTAND_PORT": port])
                #expect(Self.outcome(report, "port") == .warning, "\(report.text)")
            }
            let unsafe = await Doctor(environment: environment, logger: Stage.logger).run().checks
            #expect(unsafe.contains { $0.outcome == .failed && $0.detail.hasPrefix("fsync is off") })
            let report = await Self.report(environment)
            #expect(report.isHealthy, "\(report.text)")
            var names: [String] = []
            for check in report.checks where !names.contains(check.name) { names.append(check.name) }
            #expect(
                names == [
                    "settings", "database", "database clock", "migrations", "apps", "key files", "DNS", "TCP", "TLS",
                    "HTTP/2", "clock", "token", "capability", "capitals", "list",
                ])
            #expect(report.checks.count { $0.name == "list" && $0.outcome == .ok } == 2)
            let json = JSON(try report.json().utf8)
            #expect(json["healthy"]?.bool == true)
            #expect(json["checks"]?.items.count == report.checks.count)

            let keyless = await Self.report(
                environment, ["GRANDSTAND_APNS_KEY_DIR": empty.path, "HTTPS_PROXY": "http://proxy:3128"])
            #expect(Self.outcome(keyless, "settings") == .warning)
            let missing = try #require(keyless.checks.first { $0.outcome == .failed })
            #expect(missing.name == "key files")
            #expect(missing.detail.contains("AuthKey_\(SimulatorIdentity.keyID).p8"))
        }
    }

    @Test func `each fault of an installation without apps is told apart, and what can be checked is checked`()
        async throws
    {
        let empty = try TemporaryFolder()
        try await Stage.place { environment, _ in
            let keyless = await Self.report(environment, ["GRANDSTAND_APNS_KEY_DIR": empty.path])
            #expect(Self.outcome(keyless, "key files") == .warning, "\(keyless.text)")
            let untrusted = await Self.report(environment.filter { $0.key != "GRANDSTAND_APNS_CA_FILE" })
            #expect(Self.outcome(untrusted, "TLS") == .failed, "\(untrusted.text)")
            let away = await Self.report(environment, ["DATABASE_URL": "host=/nowhere connect_timeout=2"])
            #expect(Self.outcome(away, "database") == .failed, "\(away.text)")
            #expect(Self.outcome(away, "migrations") == .skipped)
            #expect(Self.outcome(away, "TLS") == .ok)
            for (lead, outcome) in [(-1.0, DoctorCheck.Outcome.ok), (9, .warning), (-60, .failed)] {
                let doctor = Doctor(
                    environment: environment, now: { Date().addingTimeInterval(lead) }, logger: Stage.logger)
                let report = await doctor.run()
                let check = try #require(report.checks.first { $0.name == "database clock" })
                #expect(check.outcome == outcome, "\(report.text)")
                #expect(outcome == .ok || check.detail.contains(lead < 0 ? "behind" : "ahead of"))
            }
            try await withDatabase(.empty) { database in
                let report = await Self.report(environment, ["DATABASE_URL": database.connectionString])
                let check = try #require(report.checks.first { $0.name == "migrations" })
                #expect(check.outcome == .failed)
                #expect(check.nextStep?.contains("grandstand migrate") == true)
            }
        }
    }

    @Test func `a setting that cannot be read is the only finding`() async {
        let report = await Self.report(["GRANDSTAND_PORT": "http"])
        #expect(report.checks.count == 1 && !report.isHealthy)
        #expect(report.checks[0].detail.contains("GRANDSTAND_PORT"))
    }
}
