internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

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
                // A port that another Grandstand server uses is fine, and one that another program uses is not.
                let theirs = try #require(environment["GRANDSTAND_APNS_PRODUCTION_SEND_URL"])
                for (url, outcome) in [(stage.url, DoctorCheck.Outcome.ok), (theirs, .failed)] {
                    let port = String(try #require(url.split(separator: ":").last))
                    let report = await Self.report(environment, ["GRANDSTAND_PORT": port])
                    #expect(Self.outcome(report, "port") == outcome, "\(report.text)")
                }
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
            let json = try JSONDecoder().decode(JSON.self, from: Data(report.json().utf8))
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

    @Test func `capitals that need the lowercased path give a warning, and a capability that is off fails`()
        async throws
    {
        try await Stage.place(options: { $0.quirks.capitals = .refused }) { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putApp()
                let report = await Self.report(environment)
                #expect(report.isHealthy, "\(report.text)")
                #expect(Self.outcome(report, "capitals") == .warning)

                // This is not reported as a problem of capitals. A refused creation has raised the alarm.
                simulator.setBroadcastCapability(false, of: Stage.bundleID)
                _ = try await stage.createChannels(1)
                let off = await Self.report(environment)
                let failed = off.checks.filter { $0.outcome == .failed }
                #expect(Set(failed.map(\.name)).isSuperset(of: ["alarms", "capability"]), "\(off.text)")
                #expect(!failed.contains { $0.name == "capitals" })
                #expect(failed.contains { $0.nextStep?.contains("Broadcast Capability") == true })
                #expect(failed.contains { $0.name == "alarms" && $0.detail.contains("capability-off") })
            }
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
            for (seconds, outcome) in [(-1.0, DoctorCheck.Outcome.ok), (5, .warning), (-30, .failed)] {
                let doctor = Doctor(
                    environment: environment, now: { Date().addingTimeInterval(seconds) }, logger: Stage.logger)
                let report = await doctor.run()
                let check = try #require(report.checks.first { $0.name == "database clock" })
                #expect(check.outcome == outcome, "\(report.text)")
                #expect(check.detail.contains(seconds < 0 ? "behind" : "ahead of"))
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
        #expect(report.checks.count == 1)
        #expect(report.checks[0].detail.contains("GRANDSTAND_PORT"))
        #expect(!report.isHealthy)
    }
}
