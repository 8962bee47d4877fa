internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import Logging

/// `grandstand doctor`: checks everything from this machine's settings to Apple's answers.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks the installation, step by step, and says what to do about each failure.",
        discussion: """
            Checks settings, database, migrations and key files, then the connection to APNs (DNS, TCP, TLS, HTTP/2, the \
            clock) and the answer of APNs for each app in each environment. Changes nothing. Exits 1 if a check failed.
            """)

    @Option(help: "Only this app, by its bundle ID.")
    var app: String?

    @Flag(help: "JSON on standard output.")
    var json = false

    func validate() throws {
        if let app, BundleID(rawValue: app) == nil { throw ValidationError("--app \(app): \(BundleID.rule)") }
    }

    func run() async throws {
        // The report is complete, so logs would only repeat it.
        let logger = Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }
        let doctor = Doctor(environment: ProcessInfo.processInfo.environment, logger: logger)
        let report = await doctor.run(app: app.flatMap(BundleID.init))
        print(json ? try report.json() : report.text)
        if !report.isHealthy { throw ExitCode(1) }
    }
}
