internal import APNsSimulator
internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import JSON
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The main command of the program.
@main
struct GrandstandTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grandstand",
        abstract: "APNs broadcast channels for Live Activities: events, channels, and updates that arrive.",
        discussion: """
            Settings of the server come from environment variables; docs/settings.md lists them. Commands for a running \
            server use GRANDSTAND_URL and GRANDSTAND_API_KEY, and print the API's JSON with --json. `call` calls every \
            operation, also those without a command of their own. \
            --generate-completion-script bash (or zsh, fish) prints a completion script for that shell.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [ServeCommand.self, MigrateCommand.self] + Noun.commands("keys") + [DoctorCommand.self]),
            CommandGroup(name: "Trial", subcommands: [DemoCommand.self, SimulatorCommand.self]),
            CommandGroup(
                name: "Organising",
                subcommands: Noun.commands("event", "state", "broadcast", "start", "content") + [SeasonCommand.self]),
            CommandGroup(
                name: "Operating",
                subcommands: Noun.commands("app", "channel", "quota", "reconcile", "webhook", "audit", "key", "server")),
            CommandGroup(name: "App", subcommands: Noun.commands("lookup")),
            CommandGroup(name: "API", subcommands: [CallCommand.self]),
        ])
}

/// `grandstand serve`: runs the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Runs the server until SIGTERM or SIGINT.",
        discussion: """
            Uses the PostgreSQL in DATABASE_URL; if it is unset, a private one under GRANDSTAND_DATA_DIR. After a stop \
            signal the server accepts no new requests and finishes requests under way. Waiting messages stay in the \
            outbox.
            """)

    func run() async throws {
        ProcessSetup.prepare()
        let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
        let logger = configuration.makeLogger()
        if configuration.isProxyIgnored { logger.warning("HTTPS_PROXY is ignored: connections to APNs use no proxy") }
        // Handles the signals until the server runs and handles them itself.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let building = Task { try await Server.build(configuration, logger: logger) }
        let waiting = Task {
            for await _ in signals { return building.cancel() }
        }
        defer { waiting.cancel() }
        let built = await building.result
        guard !building.isCancelled else {
            logger.info("stopped before the server listened")
            if case .success(let server) = built { await server.close() }
            return
        }
        let server = try built.get()
        try await server.run(stoppingOn: [.sigterm, .sigint]) {
            // Ends the process after this time, in any state, because PostgreSQL may hang, or may delay a commit because a
            // standby is missing. The effect is that of `kill -9`: leases end, and work that was not recorded is repeated.
            guard let longest = server.longestStop else { return }
            // This is a system thread, so it runs even if all of Swift's threads are blocked.
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: longest / .seconds(1))
                logger.warning("the stop took too long, so the process ends now; see GRANDSTAND_DRAIN_SECONDS")
                _exit(0)
            }
        }
    }
}

/// `grandstand migrate`: migrates the database to this program's schema.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Applies the migrations that the database does not have yet.")

    func run() async throws {
        let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
        let session = try await DatabaseSession.connect(configuration.database, logger: configuration.makeLogger())
        try await withCleanup({ await session.close() }) {
            let names = try await session.migrate()
            print(names.isEmpty ? "nothing to do" : names.map { "applied \($0)" }.joined(separator: "\n"))
        }
    }
}

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
        options.keyScopes = try KeyScope.byKeyID(parsing: keyScope)
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
