internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTP2
internal import Logging

/// The checks at Apple: first the connection, then Apple's answer for each app.
struct AppleChecks: Sendable {
    let configuration: Configuration
    let now: @Sendable () -> Date
    let logger: Logger

    /// The largest clock difference in seconds that passes the check.
    private static let clockTolerance = 60.0

    func checks(of apps: [Contract.App]) async -> [DoctorCheck] {
        var checks: [DoctorCheck] = []
        var reachable: Set<APNsEnvironment> = []
        for environment in APNsEnvironment.allCases.sorted() {
            for (use, endpoints) in [
                ("manage", configuration.endpoints.manage), ("send", configuration.endpoints.send),
            ] {
                guard let endpoint = endpoints[environment] else { continue }
                let (steps, isOpen) = await connectionChecks(endpoint, use: "\(use), \(environment.rawValue)")
                checks += steps
                if use == "manage", isOpen { reachable.insert(environment) }
            }
        }
        let client = APNsClient(
            settings: configuration.clientSettings(), keys: KeyRing(directory: configuration.keyDirectory), now: now,
            logger: logger)
        for app in apps {
            for environment in APNsEnvironment.allCases.sorted() {
                let subject = "\(app.bundleId) \(environment.rawValue)"
                guard reachable.contains(environment) else {
                    checks.append(
                        DoctorCheck("token", of: subject, .skipped, "APNs' management host cannot be reached"))
                    continue
                }
                guard let address = try? app.address(in: environment) else { continue }
                checks += await appChecks(address, client, subject)
            }
        }
        await client.close()
        return checks
    }

    // MARK: Connection

    private static let steps = ["DNS", "TCP", "TLS", "HTTP/2"]

    private func connectionChecks(_ endpoint: Endpoint, use: String) async -> (checks: [DoctorCheck], isOpen: Bool) {
        let subject = "\(endpoint.authority), \(use)"
        var settings = HTTP2ClientConfiguration(host: endpoint.host, port: endpoint.port)
        settings.trustRoots = configuration.trustRoots
        do throws(HTTP2ConnectError) {
            let connection = try await HTTP2ClientConnection.connect(settings, logger: logger)
            var checks = Self.steps.map { DoctorCheck($0, of: subject, .ok, "works") }
            if use.hasPrefix("manage") { checks.append(await clock(connection, endpoint, subject)) }
            await connection.close()
            return (checks, true)
        } catch {
            return (Self.failed(error, subject), false)
        }
    }

    /// The results of the connection steps: `ok` before the failed step, which has the advice, and `skipped` after it.
    static func failed(_ error: HTTP2ConnectError, _ subject: String) -> [DoctorCheck] {
        let failed =
            switch error.kind {
            case .resolve: 0
            // A time-out counts as a failure of the step TCP, although a later step may have timed out. The error's
            // message names the step that timed out.
            case .connect, .timedOut: 1
            case .tls: 2
            case .alpn, .settings: 3
            }
        let parts = error.message.split(separator: ": check ", maxSplits: 1)
        let advice = parts.count == 2 ? "check \(parts[1])" : "see the message"
        return steps.enumerated().map { index, step in
            if index < failed { return DoctorCheck(step, of: subject, .ok, "works") }
            if index > failed { return DoctorCheck(step, of: subject, .skipped, "an earlier step failed") }
            return DoctorCheck(step, of: subject, .failed, String(parts.first ?? ""), next: advice)
        }
    }

    /// Compares this machine's clock with the header `Date` of APNs' answer. The request has no token, so APNs refuses
    /// it.
    private func clock(_ connection: HTTP2ClientConnection, _ endpoint: Endpoint, _ subject: String) async
        -> DoctorCheck
    {
        let request = HTTP2Request(
            method: "GET", path: APNsPath.allChannels(of: "com.example.doctor"), authority: endpoint.authority,
            headers: [], body: [])
        guard let answer = try? await connection.send(request, timeout: configuration.requestTimeout) else {
            return DoctorCheck(
                "clock", of: subject, .warning, "no answer within \(configuration.requestTimeout)",
                next: "try again; if this continues, check Apple's system status page")
        }
        guard let text = answer[header: "date"], let date = HTTPDate.parse(text) else {
            return DoctorCheck(
                "clock", of: subject, .skipped,
                "the answer has no Date header, so the clock cannot be compared; if it is wrong, the check `token` fails"
            )
        }
        return Self.clock(offBy: now().timeIntervalSince(date), subject)
    }

    static func clock(offBy seconds: TimeInterval, _ subject: String) -> DoctorCheck {
        let words = "\(Int(abs(seconds))) s \(seconds < 0 ? "behind" : "ahead of") APNs"
        guard abs(seconds) > clockTolerance else { return DoctorCheck("clock", of: subject, .ok, words) }
        return DoctorCheck(
            "clock", of: subject, .failed, words,
            next: "set this machine's clock by NTP: provider tokens carry its time")
    }

    // MARK: Apps

    private func appChecks(_ address: APNsAddress, _ client: APNsClient, _ subject: String) async -> [DoctorCheck] {
        let answer = await client.listChannels(at: address)
        if case .refused(let refusal) = answer, refusal.reason == .topicMismatch, address.bundleID.hasCapitals {
            var lowercased = address
            lowercased.managementPath = .lowercased
            let other = await client.listChannels(at: lowercased)
            switch other {
            case .accepted(let channels, _):
                return AppleAnswer.accepted(channels.channelIDs.count, subject, lowercased: true)
            case .refused(let refusal) where refusal.reason != .topicMismatch:
                // With the bundle ID in lower case, APNs gives another reason than `TopicMismatch`. So APNs knows the
                // bundle ID in lower case, and this second refusal shows the real problem.
                return AppleAnswer.checks(other, of: address.bundleID, subject)
            default: break
            }
        }
        return AppleAnswer.checks(answer, of: address.bundleID, subject)
    }
}
