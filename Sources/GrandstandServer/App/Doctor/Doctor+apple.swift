internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTP2
internal import Synchronization

/// The checks at Apple: first the connections, then Apple's answer for each app.
extension Doctor {
    /// The largest clock difference in seconds that passes the check.
    private static let clockTolerance = 60.0
    /// The steps of a connection, and how each fails. A time-out counts as a failure of TCP, although a later step may have
    /// timed out. The error's message names the step that timed out.
    private static let steps: [(name: String, faults: [HTTP2ConnectError.Kind])] = [
        ("DNS", [.resolve]), ("TCP", [.connect, .timedOut]), ("TLS", [.tls]), ("HTTP/2", [.alpn, .settings]),
    ]

    func appleChecks(_ configuration: Configuration, _ apps: [Contract.App]) async -> [DoctorCheck] {
        let endpoints = configuration.endpoints
        var checks: [DoctorCheck] = []
        var reachable: Set<APNsEnvironment> = []
        for environment in APNsEnvironment.allCases.sorted() {
            for (use, hosts) in [("manage", endpoints.manage), ("send", endpoints.send)] {
                guard let host = hosts[environment] else { continue }
                let subject = "\(host.authority), \(use), \(environment.rawValue)"
                var settings = HTTP2ClientConfiguration(host: host.host, port: host.port)
                settings.trustRoots = configuration.trustRoots
                do throws(HTTP2ConnectError) {
                    let connection = try await HTTP2ClientConnection.connect(settings, logger: logger)
                    checks += Self.steps.map { DoctorCheck($0.name, of: subject, .ok, "") }
                    if use == "manage" {
                        reachable.insert(environment)
                        checks.append(await skewCheck(connection, host, configuration.apnsTimeout, subject))
                    }
                    await connection.close()
                } catch {
                    checks += Self.failedChecks(error, subject)
                }
            }
        }
        // Apps whose bundle ID APNs accepted only in lower case. The client then repeats the call and learns that.
        let lowercased = Mutex<Set<AppEnvironment>>([])
        var settings = configuration.apnsSettings()
        settings.remember = { app, quirk, _, _ in
            if quirk == .managementPath { lowercased.withLock { _ = $0.insert(app) } }
        }
        let client = APNsClient(
            settings: settings, keys: KeyRing(directory: configuration.keyDirectory), now: now, logger: logger)
        for app in apps {
            for environment in APNsEnvironment.allCases.sorted() {
                let subject = "\(app.bundleId) \(environment.rawValue)"
                guard let address = try? app.address(in: environment) else { continue }
                guard reachable.contains(environment) else {
                    checks.append(DoctorCheck("token", of: subject, .skipped, "no connection"))
                    continue
                }
                let answer = await client.listChannels(at: address)
                checks += Self.appChecks(
                    answer, of: address.bundleID, subject,
                    lowercased: lowercased.withLock { $0.contains(address.app) })
            }
        }
        await client.close()
        return checks
    }

    // MARK: Connections

    /// The results of the connection steps: `ok` before the failed step, and `skipped` after it.
    static func failedChecks(_ error: HTTP2ConnectError, _ subject: String) -> [DoctorCheck] {
        let failed = steps.firstIndex { $0.faults.contains(error.kind) } ?? 0
        return steps.enumerated().map { index, step in
            let outcome: DoctorCheck.Outcome = index < failed ? .ok : index == failed ? .failed : .skipped
            return DoctorCheck(step.name, of: subject, outcome, index == failed ? error.message : "")
        }
    }

    /// Compares this machine's clock with the header `Date` of APNs' answer. The request has no token, so APNs refuses
    /// it.
    private func skewCheck(
        _ connection: HTTP2ClientConnection, _ host: Endpoint, _ timeout: Duration, _ subject: String
    ) async -> DoctorCheck {
        let request = HTTP2Request(
            method: "GET", path: APNsPath.allChannels(of: "com.example.doctor"), authority: host.authority,
            headers: [], body: [])
        let answer = try? await connection.send(request, timeout: timeout)
        guard let date = answer?[header: "date"].flatMap(HTTPDate.parse) else {
            return DoctorCheck("clock", of: subject, .skipped, "no answer with a Date")
        }
        return Self.skewCheck(offBy: now().timeIntervalSince(date), subject)
    }

    static func skewCheck(offBy seconds: TimeInterval, _ subject: String) -> DoctorCheck {
        let words = "\(Int(abs(seconds))) s \(seconds < 0 ? "behind" : "ahead of") APNs"
        return DoctorCheck("clock", of: subject, abs(seconds) > clockTolerance ? .failed : .ok, words)
    }

    // MARK: Apps

    /// Interprets the answer to "list the channels" as the checks `token`, `capability`, `capitals` and `list`.
    ///
    /// - Parameter lowercased: whether APNs accepted the bundle ID only in lower case.
    static func appChecks(
        _ answer: APNsAnswer<ChannelListing>, of bundleID: BundleID, _ subject: String, lowercased: Bool = false
    ) -> [DoctorCheck] {
        func check(_ name: String, _ outcome: DoctorCheck.Outcome, _ detail: String = "") -> DoctorCheck {
            DoctorCheck(name, of: subject, outcome, detail)
        }
        let token = check("token", .ok, "accepted")
        switch answer {
        case .accepted(let listing, _):
            return [
                token, check("capability", .ok, "on"),
                check("capitals", lowercased ? .warning : .ok, lowercased ? "only lowercase" : ""),
                check("list", .ok, "\(listing.channelIDs.count) channels"),
            ]
        case .refused(let refusal):
            let said = "APNs answered \(refusal.status) \(refusal.reason)"
            switch (refusal.reason, refusal.meaning) {
            case (.tooManyProviderTokenUpdates, _), (_, .credentials): return [check("token", .failed, said)]
            case (.topicMismatch, _):
                return [token, check(bundleID.hasCapitals ? "capitals" : "capability", .failed, said)]
            case (.broadcastFeatureNotEnabled, _): return [token, check("capability", .failed, said)]
            case (_, .throttled), (_, .unavailable): return [check("list", .warning, said)]
            default: return [token, check("list", .failed, said)]
            }
        case .unanswered(let why): return [check("list", .failed, why)]
        case .unsent(let why), .withheld(let why): return [check("token", .failed, why)]
        }
    }
}
