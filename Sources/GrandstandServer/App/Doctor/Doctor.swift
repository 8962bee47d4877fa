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
    ) { (self.environment, self.now, self.logger) = (environment, now, logger) }

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
            ? DoctorCheck("settings", .warning, "HTTPS_PROXY is ignored: APNs is called directly")
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
            let finding = await session.probe()
            var database = DoctorCheck("database", .ok, "answers")
            // If the schema is wrong, the check `migrations` reports it in more detail, so this check does not.
            if let finding, finding.trouble != .schema {
                let words = "\(finding.trouble.rawValue): \(finding.trouble.finding) \(finding.cause ?? "")"
                database = DoctorCheck("database", .failed, words, next: finding.trouble.advice)
                if finding.trouble.preventsAllWork { throw database }
            }
            try await session.requireUsable()
            let status = try await Migrator(session.pool).status()
            checks += [database, try await skewCheck(session), Self.migrations(status)]
            let stores = Database(session.pool)
            // What would lose or refuse messages only later.
            let review = try await DatabaseReview(stores)
            if !review.isFlushed {
                let why = "fsync is off: a power cut loses messages that were accepted, or the whole database"
                checks.append(DoctorCheck("database settings", .failed, why))
            }
            if !review.unusable.isEmpty {
                let names = review.unusable.joined(separator: ", ")
                checks.append(DoctorCheck("database grants", .failed, "this role lacks rights on \(names)"))
            }
            apps = try await AppStore(stores).apps(PageRequest(limit: 100_000), within: .all).items
                .filter { bundleID == nil || $0.bundleId == bundleID?.rawValue }
            let outcome: DoctorCheck.Outcome = !apps.isEmpty ? .ok : bundleID == nil ? .warning : .failed
            checks.append(DoctorCheck("apps", of: bundleID?.rawValue, outcome, "\(apps.count) found"))
            let names = Set(apps.map(\.bundleId))
            checks += try await ChannelStore(stores).quotas(now: now(), tenure: configuration.tenure)
                .filter { names.contains($0.bundleID.rawValue) }.flatMap(Self.alarms)
        } catch {
            let name = checks.isEmpty ? "database" : "apps"
            checks.append(error as? DoctorCheck ?? DoctorCheck(name, .failed, "\(error)"))
            if checks.count == 1 { checks += ["migrations", "apps"].map { DoctorCheck($0, .skipped, "") } }
        }
        await opened?.close()
        return (checks, apps)
    }

    /// Compares this machine's clock with the database's, by the same rule as `serve`.
    private func skewCheck(_ session: DatabaseSession) async throws -> DoctorCheck {
        let lead = try await session.readClock(now).lead
        let standing = ClockStanding(lead: lead)
        return DoctorCheck(
            "database clock", standing == .right ? .ok : standing == .off ? .warning : .failed,
            "this machine's clock is \(DatabaseClock.words(lead.upperBound))")
    }

    private static func migrations(_ status: Migrator.Status) -> DoctorCheck {
        status.fault.map { DoctorCheck("migrations", .failed, "\($0)") }
            ?? DoctorCheck("migrations", .ok, "the schema fits this program")
    }

    /// The alarms that the server has raised for an app. The doctor's own call to Apple may get another answer.
    static func alarms(_ quota: Quota) -> [DoctorCheck] {
        Attention.list(quota).compactMap { problem in
            guard let alarm = problem.alarm else { return nil }
            return DoctorCheck(
                "alarms", of: "\(quota.bundleID) \(quota.environment.rawValue)",
                problem.level == Contract.QuotaLevel.critical.rawValue ? .failed : .warning,
                "\(alarm.rawValue): \(problem.text)", next: problem.advice)
        }
    }

    // MARK: Key files

    /// The files in the folder, and those that the apps need.
    private static func keyChecks(_ configuration: Configuration, _ apps: [Contract.App]) -> [DoctorCheck] {
        let ring = KeyRing(directory: configuration.keyDirectory)
        let needed = apps.flatMap { app in APNsEnvironment.allCases.map { app.credentials(in: $0).keyID } }
        let keyIDs = Set(ring.keyIDs() + needed).sorted()
        let faults = keyIDs.compactMap(ring.fault(of:)).map { DoctorCheck("key files", .failed, $0) }
        let found = DoctorCheck("key files", keyIDs.isEmpty ? .warning : .ok, "\(keyIDs.count)")
        return faults.isEmpty ? [found] : faults
    }
}
