internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import GrandstandContract
package import Logging

/// Checks an installation from its settings to Apple's answers without changing anything, and says for each failure
/// what to do next. It does not need a running server.
package struct Doctor: Sendable {
    private let environment: [String: String]
    let now: @Sendable () -> Date
    let logger: Logger

    /// - Parameter environment: the environment variables of the server.
    package init(
        environment: [String: String], now: @escaping @Sendable () -> Date = { Date() }, logger: Logger
    ) {
        (self.environment, self.now, self.logger) = (environment, now, logger)
    }

    /// Runs all checks in order. If a check failed, later checks that depend on it are `skipped`.
    ///
    /// - Parameter app: check only this app at Apple; `nil`: every registered app.
    package func run(app: BundleID? = nil) async -> DoctorReport {
        let configuration: Configuration
        do {
            configuration = try Configuration(environment: environment)
        } catch {
            return DoctorReport(checks: [DoctorCheck("settings", .failed, "\(error)")])
        }
        let settings =
            configuration.isProxyIgnored
            ? DoctorCheck("settings", .warning, "HTTPS_PROXY is ignored: connections to APNs use no proxy")
            : DoctorCheck("settings", .ok, "every variable can be read")
        let listening = await listeningChecks(configuration)
        let (database, apps) = await databaseChecks(configuration, only: app)
        let keys = Self.keyChecks(configuration, apps)
        return DoctorReport(
            checks: [settings] + listening + database + keys + (await appleChecks(configuration, apps)))
    }

    // MARK: The database

    /// - Returns: also the apps to check at Apple.
    private func databaseChecks(
        _ configuration: Configuration, only bundleID: BundleID?
    ) async -> (checks: [DoctorCheck], apps: [Contract.App]) {
        var checks: [DoctorCheck] = []
        var opened: DatabaseSession?
        var apps: [Contract.App] = []
        do {
            let session = try await DatabaseSession.connect(configuration.database, sharing: true, logger: logger)
            opened = session
            let finding = await session.finding()
            // If the schema is wrong, the check `migrations` reports it in more detail, so this check does not.
            let database = finding.flatMap { $0.trouble == .schema ? nil : $0 }.map { finding in
                DoctorCheck(
                    "database", .failed,
                    "\(finding.trouble.rawValue): \(finding.trouble.finding)\(finding.cause.map { " \($0)" } ?? "")",
                    next: finding.trouble.advice)
            }
            if let database, finding?.trouble.preventsAllWork == true { throw database }
            try await session.requireUsable()
            let status = try await Migrator(session.pool).status()
            checks.append(database ?? DoctorCheck("database", .ok, "answers"))
            checks += [try await clock(session), Self.migrations(status)]
            let stores = Database(session.pool)
            checks += Self.review(try await DatabaseReview(stores))
            apps = try await AppStore(stores).apps(PageRequest(limit: 100_000), within: .all).items
                .filter { bundleID == nil || $0.bundleId == bundleID?.rawValue }
            checks.append(Self.apps(apps, only: bundleID))
            let names = Set(apps.map(\.bundleId))
            checks += try await ChannelStore(stores).quotas(now: now(), tenure: configuration.tenure)
                .filter { names.contains($0.bundleID.rawValue) }.flatMap(Self.alarms)
        } catch  where checks.isEmpty {
            checks =
                [error as? DoctorCheck ?? DoctorCheck("database", .failed, "\(error)")]
                + ["migrations", "apps"].map { DoctorCheck($0, .skipped, "without the database") }
        } catch {
            checks.append(DoctorCheck("apps", .failed, "\(error)"))
        }
        await opened?.close()
        return (checks, apps)
    }

    /// Compares this machine's clock with the database's, by the same rule as `serve`.
    private func clock(_ session: DatabaseSession) async throws -> DoctorCheck {
        // This first query fills the connection's caches, so that they do not delay the query that is measured.
        let own = DatabaseClock.OwnClocks(wall: now)
        _ = try await session.time(own)
        let lead = try await session.time(own).lead
        let standing = ClockStanding(lead: lead)
        return DoctorCheck(
            "database clock", standing == .right ? .ok : standing == .off ? .warning : .failed,
            "this machine's clock is \(DatabaseClock.words(lead.upperBound))")
    }

    /// What would lose or refuse messages only later.
    private static func review(_ review: DatabaseReview) -> [DoctorCheck] {
        var checks: [DoctorCheck] = []
        if !review.isFlushed {
            let why = "fsync is off: a power cut loses messages that were accepted, or the whole database"
            checks.append(DoctorCheck("database settings", .failed, why))
        }
        let missing = review.missingGrants
        if !missing.isEmpty {
            let first = missing.prefix(5).joined(separator: ", ") + (missing.count > 5 ? ", …" : "")
            checks.append(DoctorCheck("database grants", .failed, "this role lacks \(missing.count) rights: \(first)"))
        }
        return checks
    }

    private static func migrations(_ status: Migrator.Status) -> DoctorCheck {
        switch status {
        case .current: DoctorCheck("migrations", .ok, "the schema fits this program")
        case .newer(let version):
            DoctorCheck("migrations", .ok, "the database has migration \(version), which this program does not need")
        case .behind(let names): DoctorCheck("migrations", .failed, "missing: \(names.joined(separator: ", "))")
        case .refused(let refusal): DoctorCheck("migrations", .failed, refusal.fault, next: refusal.advice)
        }
    }

    private static func apps(_ apps: [Contract.App], only bundleID: BundleID?) -> DoctorCheck {
        guard apps.isEmpty else { return DoctorCheck("apps", .ok, "\(apps.count) to check") }
        guard let bundleID else { return DoctorCheck("apps", .warning, "none is registered") }
        return DoctorCheck("apps", .failed, "\(bundleID) is not registered")
    }

    /// The alarms that the server has raised for an app. The doctor's own call to Apple may get another answer.
    static func alarms(_ quota: Quota) -> [DoctorCheck] {
        Attention.list(quota).compactMap { problem in
            guard let alarm = problem.alarm else { return nil }
            let commands = problem.remedies.map { " `\($0.line)`" }.joined(separator: ", or")
            return DoctorCheck(
                "alarms", of: "\(quota.bundleID) \(quota.environment.rawValue)",
                problem.level == Contract.QuotaLevel.critical.rawValue ? .failed : .warning,
                "\(alarm.rawValue): \(problem.text)", next: problem.advice + commands)
        }
    }

    // MARK: Key files

    /// The files in the folder, and those that the apps need.
    private static func keyChecks(_ configuration: Configuration, _ apps: [Contract.App]) -> [DoctorCheck] {
        let (ring, folder) = (KeyRing(directory: configuration.keyDirectory), configuration.keyDirectory)
        let needed = apps.flatMap { app in APNsEnvironment.allCases.map { app.credentials(in: $0).keyID } }
        let keyIDs = Set(ring.keyIDs() + needed).sorted()
        guard !keyIDs.isEmpty else {
            return [DoctorCheck("key files", .warning, "there is no AuthKey_<KEYID>.p8 in \(folder)")]
        }
        let faults = keyIDs.compactMap(ring.fault(of:)).map { DoctorCheck("key files", .failed, $0) }
        return faults.isEmpty ? [DoctorCheck("key files", .ok, "the key files in \(folder) can sign")] : faults
    }
}
