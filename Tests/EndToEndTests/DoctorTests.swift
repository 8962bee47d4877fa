internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// `grandstand doctor` on an installation that works, and on ones that do not.
@Suite(.timeLimit(.minutes(2)))
struct DoctorTests {
    private static func report(_ environment: [String: String], app: String? = nil) async -> DoctorReport {
        await Doctor(environment: environment, logger: Stage.logger).run(app: app.flatMap(BundleID.init))
    }

    private static func outcome(_ report: DoctorReport, _ name: String) -> DoctorCheck.Outcome? {
        report.checks.first { $0.name == name }?.outcome
    }

    @Test func `an installation that works is healthy, and every step is named in order`() async throws {
        try await Stage.place(options: { $0.capitals = .accepted }) { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in try await stage.putApp() }
            let report = await Self.report(environment)
            #expect(report.isHealthy, "\(report.text)")
            var names: [String] = []
            for check in report.checks where !names.contains(check.name) { names.append(check.name) }
            #expect(
                names == [
                    "settings", "database", "database clock", "migrations", "apps", "key files", "DNS", "TCP", "TLS",
                    "HTTP/2", "clock",
                    "token", "capability", "capitals", "list",
                ])
            #expect(report.checks.count { $0.name == "list" && $0.outcome == .ok } == 2)
            let json = try JSONDecoder().decode(JSON.self, from: Data(report.json().utf8))
            #expect(json["healthy"]?.bool == true)
            #expect(json["checks"]?.items.count == report.checks.count)
        }
    }

    @Test(arguments: [(-1.0, DoctorCheck.Outcome.ok), (5, .warning), (-5, .warning), (30, .failed), (-30, .failed)])
    func `the doctor reports a clock that differs from the database's`(seconds: Double, outcome: DoctorCheck.Outcome)
        async throws
    {
        try await Stage.place { environment, _ in
            let doctor = Doctor(
                environment: environment, now: { Date().addingTimeInterval(seconds) }, logger: Stage.logger)
            let report = await doctor.run()
            let check = try #require(report.checks.first { $0.name == "database clock" })
            #expect(check.outcome == outcome, "\(report.text)")
            #expect(check.detail.contains(seconds < 0 ? "behind" : "ahead of"))
        }
    }

    @Test func `a port that another Grandstand server uses is fine, and one that another program uses fails`()
        async throws
    {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                let ours = try #require(stage.url.split(separator: ":").last)
                let report = await Self.report(environment.merging(["GRANDSTAND_PORT": String(ours)]) { $1 })
                let check = try #require(report.checks.first { $0.name == "port" })
                #expect(check.outcome == .ok && check.detail.contains("Grandstand"), "\(report.text)")
                let theirs = try #require(
                    environment["GRANDSTAND_APNS_PRODUCTION_SEND_URL"]?.split(separator: ":").last)
                let other = await Self.report(environment.merging(["GRANDSTAND_PORT": String(theirs)]) { $1 })
                #expect(other.checks.first { $0.name == "port" }?.outcome == .failed, "\(other.text)")
            }
        }
    }

    @Test func `a bundle ID with capitals that needs the lowercased path gives a warning`() async throws {
        try await Stage.place(options: { $0.capitals = .refused }) { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in try await stage.putApp() }
            let report = await Self.report(environment)
            #expect(report.isHealthy, "\(report.text)")
            #expect(Self.outcome(report, "capitals") == .warning)
        }
    }

    @Test func `the doctor fails if the Broadcast capability is off, and says where to turn it on`() async throws {
        try await Stage.place(options: { $0.capitals = .accepted }) { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in try await stage.putApp() }
            simulator.setBroadcastCapability(false, of: Stage.bundleID)
            let report = await Self.report(environment)
            #expect(!report.isHealthy)
            let check = try #require(report.checks.first { $0.outcome == .failed })
            #expect(check.name == "capability")
            #expect(check.nextStep?.contains("Broadcast Capability") == true)
        }
    }

    @Test func `a Broadcast capability that is off is not reported as a problem of capitals`() async throws {
        try await Stage.place(options: { $0.capitals = .refused }) { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in try await stage.putApp() }
            simulator.setBroadcastCapability(false, of: Stage.bundleID)
            let report = await Self.report(environment)
            #expect(report.checks.first { $0.outcome == .failed }?.name == "capability", "\(report.text)")
        }
    }

    @Test func `before there are apps an empty folder of keys is a warning`() async throws {
        let empty = try TemporaryFolder()
        try await Stage.place { environment, _ in
            let report = await Self.report(environment.merging(["GRANDSTAND_APNS_KEY_DIR": empty.path]) { $1 })
            #expect(Self.outcome(report, "key files") == .warning, "\(report.text)")
        }
    }

    @Test func `a missing key file is named`() async throws {
        let empty = try TemporaryFolder()
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in try await stage.putApp() }
            let report = await Self.report(environment.merging(["GRANDSTAND_APNS_KEY_DIR": empty.path]) { $1 })
            let check = try #require(report.checks.first { $0.outcome == .failed })
            #expect(check.name == "key files")
            #expect(check.detail.contains("AuthKey_\(SimulatorIdentity.keyID).p8"))
        }
    }

    @Test func `an unknown authority, a closed port and an empty database are told apart`() async throws {
        try await Stage.place { environment, _ in
            let untrusted = await Self.report(environment.filter { $0.key != "GRANDSTAND_APNS_CA_FILE" })
            #expect(Self.outcome(untrusted, "TLS") == .failed, "\(untrusted.text)")
            #expect(Self.outcome(untrusted, "TCP") == .ok)
            #expect(Self.outcome(untrusted, "HTTP/2") == .skipped)
            let closed = await Self.report(
                environment.merging(["GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL": "https://127.0.0.1:1"]) { $1 })
            #expect(Self.outcome(closed, "TCP") == .failed)
            #expect(Self.outcome(closed, "TLS") == .skipped)
            try await withDatabase(.empty) { database in
                let empty = await Self.report(environment.merging(["DATABASE_URL": database.connectionString]) { $1 })
                let check = try #require(empty.checks.first { $0.name == "migrations" })
                #expect(check.outcome == .failed)
                #expect(check.nextStep?.contains("grandstand migrate") == true)
            }
        }
    }

    @Test func `without a database the doctor still checks the connection to Apple`() async throws {
        try await Stage.place { environment, _ in
            let report = await Self.report(
                environment.merging(["DATABASE_URL": "host=/nowhere connect_timeout=2"]) { $1 })
            #expect(Self.outcome(report, "database") == .failed, "\(report.text)")
            #expect(Self.outcome(report, "migrations") == .skipped)
            #expect(Self.outcome(report, "TLS") == .ok)
        }
    }

    @Test func `a setting that cannot be read is the only finding`() async {
        let report = await Self.report(["GRANDSTAND_PORT": "http"])
        #expect(report.checks.count == 1)
        #expect(report.checks[0].detail.contains("GRANDSTAND_PORT"))
        #expect(!report.isHealthy)
    }
}
