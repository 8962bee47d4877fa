internal import APNsWire
internal import Foundation
internal import HTTP2
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// The doctor's findings for given answers.
struct DoctorTests {
    @Test func `a clock that is off by more than a minute is reported`() {
        #expect(Doctor.skewCheck(offBy: 60, "x").outcome == .ok)
        #expect(Doctor.skewCheck(offBy: -61, "x").outcome == .failed)
        #expect(Doctor.skewCheck(offBy: -61, "x").detail == "61 s behind APNs")
    }

    @Test(arguments: [
        (HTTP2ConnectError.Kind.resolve, "DNS"), (.connect, "TCP"), (.timedOut, "TCP"), (.tls, "TLS"),
        (.alpn, "HTTP/2"), (.settings, "HTTP/2"),
    ])
    func `the step that failed is reported as failed, and those before it as working`(
        kind: HTTP2ConnectError.Kind, step: String
    ) throws {
        let checks = Doctor.failedChecks(HTTP2ConnectError(kind: kind, message: "it broke"), "host")
        let index = try #require(checks.firstIndex { $0.outcome == .failed })
        #expect(checks[index].name == step)
        #expect(checks[index].detail == "it broke" && checks[index].nextStep?.isEmpty == false)
        #expect(checks[..<index].allSatisfy { $0.outcome == .ok })
        #expect(checks[(index + 1)...].allSatisfy { $0.outcome == .skipped })
    }

    @Test(arguments: [
        (-1.0, 90.0, ["grandstand.example.com"], DoctorCheck.Outcome.ok),
        (-1, 13, ["grandstand.example.com"], .warning),
        (-90, -1, ["grandstand.example.com"], .failed), (1, 90, ["grandstand.example.com"], .failed),
        (-1, 90, [], .failed),
    ])
    func `a certificate is reported with its names and its end, and with a warning before it ends`(
        from: Double, until: Double, names: [String], outcome: DoctorCheck.Outcome
    ) {
        let now = Date(timeIntervalSince1970: 1_795_305_600)
        let check = Doctor.certificate(
            "cert.pem", names, from: now.addingTimeInterval(from * 86_400),
            until: now.addingTimeInterval(until * 86_400), now: now)
        #expect(check.outcome == outcome)
        #expect(check.detail.contains(names.first ?? "no name") && check.detail.contains("valid from 202"))
        #expect((check.nextStep == nil) == (outcome == .ok))
    }

    @Test func `a report forges no line, and sends no command to a terminal`() {
        let check = DoctorCheck("key files", .failed, "a\u{1B}[2J\n\u{85}\u{2028}.p8", next: "repair\nit")
        #expect(
            DoctorReport(checks: [check]).text
                == #"FAILED   key files: a\u001b[2J\u000a\u0085\u2028.p8"# + "\n         → " + #"repair\u000ait"#)
    }

    @Test func `an old PostgreSQL is refused with its version and the required one`() {
        #expect(throws: Never.self) { try DatabaseSession.require(version: 150_000) }
        let error = #expect(throws: ExitError.self) { try DatabaseSession.require(version: 140_012) }
        #expect(
            error?.description.contains("PostgreSQL 14") == true && error?.description.contains("15 or later") == true)
    }

    @Test func `every alarm is reported, the gravest first`() throws {
        let bundleID = try #require(BundleID(rawValue: "com.example.Stadium"))
        let quota = Quota(
            bundleID: bundleID, environment: .production, limit: 1, reconciliationAlarm: .listIncomplete,
            isCapabilityOff: true)
        let checks = Doctor.alarms(quota)
        #expect(checks.map(\.outcome) == [.failed, .warning])
        #expect(checks.allSatisfy { $0.name == "alarms" && $0.subject == "com.example.Stadium production" })
        #expect(checks[0].detail.hasPrefix("capability-off: ") && checks[1].detail.hasPrefix("list-incomplete: "))
        #expect(checks[1].nextStep == "Reconcile again: `grandstand reconcile BUNDLE ENVIRONMENT`.")
    }

    @Test func `what to do is the runbook's row of the check, by Apple's reason if it has several`() {
        func next(_ name: String, _ detail: String) -> String { DoctorCheck(name, .failed, detail).nextStep ?? "" }
        for name in [
            "settings", "certificate", "port", "database", "database clock", "migrations", "database settings",
            "database grants", "apps", "key files", "DNS", "TCP", "TLS", "HTTP/2", "clock", "token", "capability",
            "capitals", "list",
        ] { #expect(!next(name, "").isEmpty && !next(name, "").contains("]("), "\(name)") }
        #expect(next("token", "APNs answered 403 ExpiredProviderToken") == "set this machine by NTP")
        #expect(next("token", "APNs answered 403 InvalidProviderToken").contains("`teamId`"))
        #expect(next("capability", "APNs answered 403 BroadcastFeatureNotEnabled").hasPrefix("turn the Broadcast"))
        #expect(DoctorCheck("token", .ok, "accepted").nextStep == nil)
    }

    @Test func `every refusal that Apple documents has a next step`() throws {
        let bundleID = try #require(BundleID(rawValue: "com.example.Stadium"))
        for reason in APNsReason.allKnown {
            let answer = APNsAnswer<ChannelListing>.refused(
                APNsRefusal(status: reason.status ?? 0, reason: reason))
            let checks = Doctor.appChecks(answer, of: bundleID, "x")
            let found = checks.filter { $0.outcome != .ok }
            #expect(found.count == 1, "\(reason)")
            #expect(found.allSatisfy { $0.nextStep?.isEmpty == false && $0.detail.contains(reason.rawValue) })
        }
    }
}
