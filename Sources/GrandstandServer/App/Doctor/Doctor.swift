internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import GrandstandContract
package import Logging

/// Checks an installation from its settings to Apple's answers without changing anything, and says for each failure
/// what to do next. It does not need a running server.
package struct Doctor: Sendable {
    private let environment: [String: String]
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// - Parameter environment: the environment variables of the server.
    package init(
        environment: [String: String], now: @escaping @Sendable () -> Date = { Date() }, logger: Logger
    ) {
        self.environment = environment
        self.now = now
        self.logger = logger
    }

    /// Runs all checks in order. If a check failed, later checks that depend on it are `skipped`.
    ///
    /// - Parameter app: check only this app at Apple; `nil`: every registered app.
    package func run(app: BundleID? = nil) async -> DoctorReport {
        let configuration: Configuration
        do {
            configuration = try Configuration(environment: environment)
        } catch {
            return DoctorReport(checks: [
                DoctorCheck("settings", .failed, "\(error)", next: "correct this environment variable")
            ])
        }
        var checks = [
            configuration.isProxyIgnored
                ? DoctorCheck(
                    "settings", .warning, "HTTPS_PROXY is ignored: connections to APNs use no proxy",
                    next: "unset it; this machine must reach APNs directly")
                : DoctorCheck("settings", .ok, "every variable can be read")
        ]
        checks += await DoctorListening.checks(configuration, now: now())
        let (ofDatabase, apps) = await databaseChecks(configuration, only: app)
        checks += ofDatabase
        checks += keyChecks(configuration, apps)
        checks += await AppleChecks(configuration: configuration, now: now, logger: logger).checks(of: apps)
        return DoctorReport(checks: checks)
    }

    // MARK: The database

    private func databaseChecks(
        _ configuration: Configuration, only bundleID: BundleID?
    ) async -> (checks: [DoctorCheck], apps: [Contract.App]) {
        do {
            let session = try await DatabaseSession.connect(
                configuration.database, sharing: true, logger: logger)
            let found = await databaseChecks(session, configuration, only: bundleID)
            await session.close()
            return found
        } catch {
            return (Self.noDatabase("\(error)"), [])
        }
    }

    private func databaseChecks(
        _ session: DatabaseSession, _ configuration: Configuration, only bundleID: BundleID?
    ) async -> (checks: [DoctorCheck], apps: [Contract.App]) {
        let finding = await DatabaseProbe(session[.probe]).finding()
        if let finding, finding.trouble.preventsAllWork {
            return (
                Self.noDatabase(
                    "\(finding.trouble.rawValue): \(finding.cause ?? finding.trouble.finding)",
                    next: finding.trouble.advice), []
            )
        }
        let status: Migrator.Status
        do {
            try await session.requireUsable()
            status = try await Migrator(session.pool).status()
        } catch {
            return (Self.noDatabase("\(error)"), [])
        }
        // If the schema is wrong, the check `migrations` reports it in more detail, so this check does not.
        let database = finding.flatMap { $0.trouble == .schema ? nil : Self.failed($0) }
        var checks = [
            database ?? DoctorCheck("database", .ok, "answers"), await clock(session), Self.migrations(status),
        ]
        switch status {
        case .current, .newer: break
        case .behind, .refused:
            return (
                checks + [DoctorCheck("apps", .skipped, "this program cannot use the database's schema")],
                []
            )
        }
        do {
            let database = Database(session.pool)
            checks += Self.review(try await DatabaseReview(database))
            let apps = try await apps(in: database).filter { bundleID == nil || $0.bundleId == bundleID?.rawValue }
            let alarms = DoctorAlarms.checks(
                try await ChannelStore(database).quotas(now: now(), tenure: configuration.tenure)
                    .filter { quota in apps.contains { $0.bundleId == quota.bundleID.rawValue } })
            return (checks + [Self.apps(apps, only: bundleID)] + alarms, apps)
        } catch {
            return (checks + [DoctorCheck("apps", .failed, "\(error)", next: "see the database's log")], [])
        }
    }

    /// Compares this machine's clock with the database's, by the same rule as `serve`.
    private func clock(_ session: DatabaseSession) async -> DoctorCheck {
        let name = "database clock"
        let sample: ClockSample
        do {
            // This first query fills the connection's caches, so that they do not delay the query that is measured.
            _ = try await session.now()
            sample = try await session.time(DatabaseClock.OwnClocks(wall: now))
        } catch {
            return DoctorCheck(name, .failed, "\(error)", next: "see the database's log")
        }
        let words = "this machine's clock is \(DatabaseClock.words(sample.lead.upperBound))"
        return switch ClockStanding(lead: sample.lead) {
        case .right: DoctorCheck(name, .ok, words)
        case .off: DoctorCheck(name, .warning, words, next: "set both machines' clocks by NTP")
        case .unusable:
            DoctorCheck(
                name, .failed, words,
                next: "set both machines' clocks by NTP: until then no server starts, and a running one sends nothing")
        }
    }

    /// The check of a database that answers but does not work properly.
    private static func failed(_ finding: DatabaseFinding) -> DoctorCheck {
        DoctorCheck(
            "database", .failed,
            "\(finding.trouble.rawValue): \(finding.trouble.finding)\(finding.cause.map { " \($0)" } ?? "")",
            next: finding.trouble.advice)
    }

    /// What would lose or refuse messages only later.
    private static func review(_ review: DatabaseReview) -> [DoctorCheck] {
        var checks: [DoctorCheck] = []
        if !review.isFlushed {
            checks.append(
                DoctorCheck(
                    "database settings", .failed,
                    "fsync is off: a power cut loses messages that were accepted, or the whole database",
                    next: "set fsync = on in postgresql.conf and reload PostgreSQL"))
        }
        if !review.missingGrants.isEmpty {
            let first = review.missingGrants.prefix(5).joined(separator: ", ")
            checks.append(
                DoctorCheck(
                    "database grants", .failed,
                    "this role lacks \(review.missingGrants.count) rights: \(first)"
                        + (review.missingGrants.count > 5 ? ", …" : ""),
                    next: "run packaging/roles.sql again as the owner of the database, or grant them to the role; "
                        + "switch row-level security off with ALTER TABLE"))
        }
        return checks
    }

    private static func noDatabase(
        _ why: String, next: String = "check DATABASE_URL, that PostgreSQL runs there, and that it accepts this user"
    ) -> [DoctorCheck] {
        [
            DoctorCheck("database", .failed, why, next: next),
            DoctorCheck("migrations", .skipped, "without the database"),
            DoctorCheck("apps", .skipped, "without the database"),
        ]
    }

    private static func migrations(_ status: Migrator.Status) -> DoctorCheck {
        switch status {
        case .current: DoctorCheck("migrations", .ok, "the schema fits this program")
        case .newer(let version):
            DoctorCheck(
                "migrations", .ok,
                "the database has migration \(version), which this program does not know and does not need"
            )
        case .behind(let names):
            DoctorCheck(
                "migrations", .failed, "missing: \(names.joined(separator: ", "))",
                next: "run `grandstand migrate` with the same settings")
        case .refused(let refusal): DoctorCheck("migrations", .failed, refusal.fault, next: refusal.advice)
        }
    }

    private func apps(in database: Database) async throws -> [Contract.App] {
        try await AppStore(database).apps(PageRequest(limit: 100_000), within: .all).items
    }

    private static func apps(_ apps: [Contract.App], only bundleID: BundleID?) -> DoctorCheck {
        guard apps.isEmpty else { return DoctorCheck("apps", .ok, "\(apps.count) to check") }
        guard let bundleID else {
            return DoctorCheck(
                "apps", .warning, "none is registered", next: "register one with PUT /v1/apps/{bundleId}")
        }
        return DoctorCheck(
            "apps", .failed, "\(bundleID) is not registered", next: "check its spelling, also upper and lower case")
    }

    // MARK: Key files

    private func keyChecks(_ configuration: Configuration, _ apps: [Contract.App]) -> [DoctorCheck] {
        let ring = KeyRing(directory: configuration.keyDirectory)
        var checks = ring.faults().map { fault in
            DoctorCheck("key files", .failed, fault, next: "replace the file; the server reads it again by itself")
        }
        var seen: Set<String> = []
        for app in apps {
            for environment in APNsEnvironment.allCases.sorted() {
                let keyID = app.credentials(in: environment).keyID
                guard seen.insert(keyID).inserted, ring.state(of: keyID) == .missing else { continue }
                checks.append(
                    DoctorCheck(
                        "key files", of: "\(app.bundleId) \(environment.rawValue)", .failed,
                        "there is no AuthKey_\(keyID).p8 in \(configuration.keyDirectory)",
                        next: "put the file from Apple there, or correct the app's keyId or "
                            + "GRANDSTAND_APNS_KEY_DIR"))
            }
        }
        guard checks.isEmpty else { return checks }
        guard !ring.keyIDs().isEmpty else {
            return [
                DoctorCheck(
                    "key files", .warning, "there is no AuthKey_<KEYID>.p8 in \(configuration.keyDirectory)",
                    next: "put the file from Apple there, or correct GRANDSTAND_APNS_KEY_DIR")
            ]
        }
        return [DoctorCheck("key files", .ok, "the key files in \(configuration.keyDirectory) can sign")]
    }
}
