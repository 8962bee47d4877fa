internal import APNsSimulator
internal import APNsWire
internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import Logging
internal import UnixSignals

/// The running parts of the demo, in a temporary folder: a simulator, an embedded database, a server, and a key.
struct DemoSetup: Sendable {
    let simulator: Simulator
    /// The address of the simulator's control API, which shows the phones.
    let controlURL: String
    let serverURL: URL
    /// The secret of a key with all scopes.
    let secret: String
    let client: GrandstandClient

    /// Starts everything, runs `body`, and stops everything again.
    ///
    /// - Parameter port: the value of `GRANDSTAND_PORT`; 0: the system picks a free port.
    /// - Throws: `ExitError` for a port that is not a number.
    static func with(
        port: String, settings: [String: String], _ body: @escaping @Sendable (DemoSetup) async throws -> Void
    ) async throws {
        var logger = Logger(label: "demo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "grandstand-demo-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await Simulator.whileRunning(in: folder + "/apns", logger: logger) { options in
            options.controlPort = 0
        } _: { simulator, addresses in
            let environment = addresses.serverEnv
                .merging(["GRANDSTAND_DATA_DIR": folder + "/data", "GRANDSTAND_PORT": port]) { $1 }
                .merging(settings) { $1 }
            let server = try await Server.build(try Configuration(environment: environment), logger: logger)
            try await server.whileRunning { port, _ in
                let issued = try await server.keys.create(
                    Contract.KeyDraft(name: "demo", scopes: [.admin]), by: .commandLine)
                guard let address = URL(string: "http://127.0.0.1:\(port)"), let secret = issued.secret else {
                    throw ExitError("the demo has no address or no key")
                }
                try await body(
                    DemoSetup(
                        simulator: simulator, controlURL: addresses.controlURL ?? "", serverURL: address,
                        secret: secret,
                        client: GrandstandClient(server: address, key: secret)))
            }
        }
    }
}

extension Simulator {
    /// Runs a simulator while `body` runs. Its journal is large enough for a whole match day.
    ///
    /// - Parameters:
    ///   - folder: the folder of its keys and its certificate authority.
    ///   - options: changes its options before the start.
    static func whileRunning<Value>(
        in folder: String, logger: Logger, options change: (inout SimulatorOptions) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Simulator, SimulatorAddresses) async throws -> Value
    ) async throws -> Value {
        var options = SimulatorOptions(directory: folder)
        options.journalCapacity = 1_000_000
        change(&options)
        let simulator = Simulator(options: options, logger: logger)
        let addresses = try await simulator.start()
        return try await withCleanup({ await simulator.stop() }) { try await body(simulator, addresses) }
    }
}

extension SimulatorAddresses {
    /// The settings of a server that uses this simulator.
    var serverEnv: [String: String] {
        var settings = [
            "GRANDSTAND_PORT": "0", "GRANDSTAND_APNS_CA_FILE": caFile,
            "GRANDSTAND_APNS_KEY_DIR": URL(filePath: p8File).deletingLastPathComponent().path,
        ]
        for (name, environment) in [("DEVELOPMENT", APNsEnvironment.development), ("PRODUCTION", .production)] {
            settings["GRANDSTAND_APNS_\(name)_SEND_URL"] = url(environment)
            settings["GRANDSTAND_APNS_\(name)_MANAGE_URL"] = url(environment)
        }
        return settings
    }
}

/// Runs `body` and then `cleanUp`, even if `body` throws.
func withCleanup<Value>(
    _ cleanUp: () async throws -> Void, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
) async throws -> Value {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    try await cleanUp()
    return try result.get()
}

/// A simulated phone with one app. The phone registers itself with the server.
struct Phone: Sendable {
    let id: String
    /// The phone's push-to-start token.
    let token: String
    private let locale: String
    private let identity: GrandstandClient.InstallationIdentity

    /// Adds the phone to the simulator.
    init(
        _ id: String, app bundleID: String, in environment: APNsEnvironment,
        locale: String = "en-GB", _ simulator: Simulator
    ) throws {
        let device = try simulator.addDevice(id, in: environment, bundleIDs: [bundleID])
        guard let token = device.startTokens[bundleID.lowercased()] else { throw ExitError("\(id) has no token") }
        (self.id, self.token, self.locale) = (id, token, locale)
        identity = .init(new: .init(bundleID, .init(rawValue: environment.rawValue)))
    }

    /// Registers the phone as a follower of topics, as its app would.
    func follow(_ topics: [String], attributesType: String, _ app: GrandstandClient) async throws {
        try await app.send(
            .putInstallation(
                identity,
                .init(
                    systemVersion: "18.4", locale: locale,
                    startTokens: [.init(attributesType: attributesType, token: token)], topics: topics)))
    }
}

/// Runs `body` for all elements, at most `width` at a time.
///
/// - Returns: what `body` returned, in the order in which it ended.
@discardableResult
func inParallel<Elements: Sequence, Value: Sendable>(
    _ elements: Elements, atMost width: Int,
    _ body: @escaping @Sendable (Elements.Element) async throws -> Value
) async throws -> [Value] where Elements.Element: Sendable {
    try await withThrowingTaskGroup(of: Value.self) { group in
        var values: [Value] = []
        for (index, element) in elements.enumerated() {
            if index >= width, let value = try await group.next() { values.append(value) }
            group.addTask { try await body(element) }
        }
        for try await value in group { values.append(value) }
        return values
    }
}

extension Server {
    /// Runs the server while `body` runs. Returns when the server has stopped.
    ///
    /// - Parameter body: gets the port, and the run. Cancelling the run is a graceful stop, as SIGTERM is.
    func whileRunning(_ body: (_ port: Int, _ run: Task<Void, any Error>) async throws -> Void) async throws {
        let running = Task { try await run() }
        func stop() async throws {
            running.cancel()
            try await running.value
        }
        try await withCleanup(stop) {
            for await port in ports { return try await body(port, running) }
            throw ExitError("the server did not start")
        }
    }
}

/// `grandstand demo`: shows a newcomer what the server does.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Plays a match through the public API against the simulator, with its own database.",
        discussion: """
            Starts an embedded PostgreSQL, the APNs simulator and the server in a temporary folder, plays the 2022 \
            World Cup final, which a push starts on a thousand phones, prints what this proves, and then keeps running so \
            that you can try it. With --once it ends then; the exit code is 1 if anything went wrong.
            """)

    @Flag(help: "End when the match is over.")
    var once = false

    @Option(help: "The port of the API; 0 picks a free port. Default: GRANDSTAND_PORT, or 8080. With --once: 0.")
    var port: Int?

    func run() async throws {
        let report = DemoReport()
        let event = try DemoEvent.load()
        let started = ContinuousClock.now
        report.line("Starting PostgreSQL, the APNs simulator and the server…")
        let wanted = port.map { "\($0)" } ?? ProcessInfo.processInfo.environment["GRANDSTAND_PORT"] ?? "8080"
        let settings = Self.settings(of: ProcessInfo.processInfo.environment)
        try await DemoSetup.with(port: once ? "0" : wanted, settings: settings) { stage in
            report.line("Console: \(stage.serverURL.absoluteString)/console")
            report.line("Simulator's control API: \(stage.controlURL)")
            var match = DemoMatch(stage: stage, event: event, report: report)
            try await match.play()
            func accepted(_ path: String) -> Int {
                stage.simulator.journal().count { $0.request.path.hasPrefix(path) && $0.status == 200 }
            }
            report.line(
                "\n\(event.broadcasts.count) broadcasts, \(accepted("/4/")) messages and \(accepted("/3/")) pushes to phones "
                    + "accepted by APNs, \(DemoMatch.time(since: started)).")
            guard !once else { return }
            report.line(Self.invitation(to: stage))
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
        }
    }

    /// The address, a key and calls to try after the match.
    private static func invitation(to stage: DemoSetup) -> String {
        let address = stage.serverURL.absoluteString
        return """

            The server stays up at \(address) with a key that may do everything:

              export KEY=\(stage.secret)

            The console, for people: \(address)/console (sign in with that key).

              curl -s -H "Authorization: Bearer $KEY" \(address)/v1/quotas
              GRANDSTAND_URL=\(address) GRANDSTAND_API_KEY=$KEY grandstand call listEvents
              curl -s \(stage.controlURL)/lock-screens

            README.md and docs/organising.md have more; docs/simulator.md describes the phones.
            Ctrl-C ends it.
            """
    }

    /// The settings of the demo's server: those of webhooks in `environment`, so that you can try a receiver of your
    /// own; no pause between messages, because the demo plays a match of 140 minutes much faster; and time for answers
    /// on a busy machine.
    static func settings(of environment: [String: String]) -> [String: String] {
        let patient = ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "60", "GRANDSTAND_DATABASE_WAIT": "60"]
        return environment.filter { $0.key.hasPrefix("GRANDSTAND_WEBHOOK_") }
            .merging(patient.merging(["GRANDSTAND_LANE_INTERVAL": "0"]) { $1 }) { $1 }
    }
}

/// Prints what the demo proves, each as one line, and on a terminal what it does now.
struct DemoReport: Sendable {
    private let isTerminal = Terminal.isOutput

    /// Prints a proof with its result.
    func proof(_ what: String, _ result: String) {
        line("  \(what)\(String(repeating: " ", count: max(1, 50 - what.count)))\(result)")
    }

    /// Prints a line in place of what the demo did until now.
    func line(_ text: String) { write(isTerminal ? "\r\u{1B}[2K\(text)\n" : "\(text)\n") }

    /// Shows on a terminal what the demo does now.
    func progress(_ text: String) { if isTerminal { write("\r\u{1B}[2K  … \(text)") } }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
