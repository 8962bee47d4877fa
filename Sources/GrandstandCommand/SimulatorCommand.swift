internal import APNsSimulator
internal import ArgumentParser
internal import Foundation
internal import JSON
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `grandstand simulator`: runs the APNs simulator.
struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Behaves like APNs: broadcast channels, device pushes and phones, over HTTP/2 and TLS.",
        discussion: """
            Serves the development environment on --port and production on the next one, each with the management, \
            broadcast and device paths; a client that names one of Apple's hosts (SNI) gets only the paths of that host. \
            Prints one line that begins with "listening", then the lock screens as they change, and serves until \
            SIGTERM or SIGINT.

            Clients must trust DIR/ca.pem; DIR/AuthKey_SIMULATOR1.p8 is a provider key of key id SIMULATOR1 \
            and team SIMULATOR1. Both are created if they do not exist. Tokens of any other AuthKey_<KEYID>.p8 in DIR \
            at the start are accepted too.

            With --control-port a control API listens on loopback: journal, faults, buckets (rates beyond which APNs \
            answers 429), phones, quirks. GET / lists its paths; docs/simulator.md describes them, the form of --faults, and every quirk.
            """)

    @Option(help: "The development environment's port; production has the next one. 0: two free ports.")
    var port = 8443

    @Option(help: "The folder of the certificate authority and the provider keys; created if it does not exist.")
    var dir: String

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port of the control API. 0: a free port. Without it: no control API.")
    var controlPort: Int?

    @Option(help: "The address of the control API. It requires no password.")
    var controlHost = SimulatorOptions(directory: "").controlHost

    @Option(help: "A JSON file with faults, active from the start.")
    var faults: String?

    @Option(help: ArgumentHelp("Sets a quirk, by name; may be repeated.", valueName: "name=value"))
    var quirk: [String] = []

    @Flag(help: "List the quirks, their values (the default first) and their sources, and exit.")
    var listQuirks = false

    @Option(help: "Capitals in a bundle ID on management paths: refused (403 TopicMismatch, as seen live) or accepted.")
    var capitals = Quirks.Rule.refused

    @Option(help: "The most channels of one app in one environment.")
    var channelLimit = SimulatorOptions(directory: "").channelLimit

    @Option(help: "KEYID=TEAM: that key's team; TEAM alone: the team of all other keys. May be repeated.")
    var team: [String] = []

    @Option(
        help: ArgumentHelp(
            "KEYID=ENVIRONMENT or KEYID=ENVIRONMENT:TOPIC,TOPIC: the environment and topics of a key. May be repeated.",
            valueName: "keyid=scope"))
    var keyScope: [String] = []

    @Option(help: "The most requests in the journal.")
    var journal = SimulatorOptions(directory: "").journalCapacity

    @Option(help: "The seed of IDs and of random faults: with the same seed the same requests get the same results.")
    var seed: UInt64?

    @Flag(inversion: .prefixedNo, help: "Print the lock screens as they change.")
    var lockScreens = true

    func run() async throws {
        if listQuirks { return Self.printQuirks() }
        let logger = Logger(label: "simulator") { StreamLogHandler.standardError(label: $0) }
        let simulator = Simulator(options: try options(), logger: logger) { addresses in
            Self.printLine("\(addresses)")
        }
        let printer = lockScreens ? Task { await Self.printLockScreens(of: simulator) } : nil
        defer { printer?.cancel() }
        try await ServiceGroup(
            services: [simulator], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }

    private func options() throws -> SimulatorOptions {
        var options = SimulatorOptions(directory: dir)
        options.host = host
        options.port = port
        options.controlPort = controlPort
        options.controlHost = controlHost
        options.quirks.capitals = capitals
        options.channelLimit = channelLimit
        try options.setTeams(team)
        options.keyScopes = try KeyScope.list(parsing: keyScope)
        options.journalCapacity = journal
        options.faultFile = faults
        if let seed { options.seed = seed }
        try options.quirks.set(quirk)
        return options
    }

    private static func printQuirks() {
        for quirk in Quirks().table {
            printLine("\(quirk.name)=\(quirk.values.joined(separator: "|"))\n    \(quirk.summary)\n    \(quirk.source)")
        }
    }

    /// Prints one line for each lock screen that changed.
    private static func printLockScreens(of simulator: Simulator) async {
        var shown: [String: [String]] = [:]
        var version = -1
        while let screens = await simulator.lockScreens(after: version) {
            version = screens.version
            for screen in screens.lockScreens {
                let lines = screen.activities.map { "\($0)" }
                guard shown.updateValue(lines, forKey: screen.device) ?? [] != lines else { continue }
                let text = "lock screen of \(screen.device): \(lines.isEmpty ? "empty" : lines.joined(separator: "; "))"
                // The names come from clients.
                printLine(text.escapingControls)
            }
        }
    }

    private static func printLine(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    }
}

extension Quirks.Rule: ExpressibleByArgument {}
