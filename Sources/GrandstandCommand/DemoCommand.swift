internal import APNsSimulator
internal import ArgumentParser
internal import Foundation
internal import UnixSignals

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
        let event = try DemoEvent.final()
        let started = ContinuousClock.now
        report.line("Starting PostgreSQL, the APNs simulator and the server…")
        let wanted = port.map { "\($0)" } ?? ProcessInfo.processInfo.environment["GRANDSTAND_PORT"] ?? "8080"
        let settings = Self.settings(of: ProcessInfo.processInfo.environment)
        try await DemoStage.with(port: once ? "0" : wanted, settings: settings) { stage in
            report.line("Console: \(stage.address.absoluteString)/console")
            report.line("Simulator's control API: \(stage.control)")
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
    private static func invitation(to stage: DemoStage) -> String {
        let address = stage.address.absoluteString
        return """

            The server stays up at \(address) with a key that may do everything:

              export KEY=\(stage.secret)

            The console, for people: \(address)/console (sign in with that key).

              curl -s -H "Authorization: Bearer $KEY" \(address)/v1/quotas
              GRANDSTAND_URL=\(address) GRANDSTAND_API_KEY=$KEY grandstand call listEvents
              curl -s \(stage.control)/lock-screens

            README.md and docs/organising.md have more; docs/simulator.md describes the phones.
            Ctrl-C ends it.
            """
    }

    /// The settings of the demo's server: those of webhooks in `environment`, so that you can try a receiver of your
    /// own, and no pause between messages, because the demo plays a match of 140 minutes much faster.
    static func settings(of environment: [String: String]) -> [String: String] {
        environment.filter { $0.key.hasPrefix("GRANDSTAND_WEBHOOK_") }
            .merging(["GRANDSTAND_LANE_INTERVAL": "0"]) { $1 }
    }
}
